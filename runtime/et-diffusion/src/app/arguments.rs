//! The command line as data.

use std::ffi::OsString;
use std::path::PathBuf;

use et_module::app::{Command, Tracing, number, read};
use et_module::parse_threads;

use crate::Settings;

/// A request for a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// What is in the picture.
    pub prompt: Option<String>,
    /// What is not in the picture.
    pub negative: Option<String>,
    /// The number of steps; the default of the program file for `None`.
    pub steps: Option<usize>,
    /// The guidance; the default of the program file for `None`.
    pub guidance: Option<f32>,
    /// The seed; the default of the program file for `None`.
    pub seed: Option<u64>,
    /// Where to write the picture, or with `inputs` the numbers of pictures.
    pub outputs: Option<PathBuf>,
    /// A file with pictures to make, as tokens and noise.
    pub inputs: Option<PathBuf>,
    /// Whether to print settings and times as JSON.
    pub json: bool,
    /// Data files; the files beside the program file where the request names no file.
    pub data: Vec<PathBuf>,
    /// The most threads; [`et_module::default_threads`] for `None`.
    pub threads: Option<usize>,
    /// The file for a recording of the executions.
    pub trace: Option<PathBuf>,
}

impl Request {
    /// The settings, with the defaults of a program file.
    pub fn settings(&self, defaults: Settings) -> Settings {
        Settings {
            steps: self.steps.unwrap_or(defaults.steps),
            guidance: self.guidance.unwrap_or(defaults.guidance),
            seed: self.seed.unwrap_or(defaults.seed),
        }
    }

    /// Whether the request is complete. A recording needs no file for the picture.
    ///
    /// # Errors
    /// The missing or conflicting options.
    pub fn check(&self, is_recorded: bool) -> Result<(), String> {
        let needs_file = self.inputs.is_some() || !is_recorded;
        match (&self.prompt, &self.inputs) {
            (Some(_), Some(_)) => Err("--prompt and --inputs do not go together".to_owned()),
            (None, None) => Err("--prompt is needed".to_owned()),
            _ if needs_file && self.outputs.is_none() => Err("-o is needed: the file for the picture".to_owned()),
            _ => Ok(()),
        }
    }

    /// Sets the option `name`; false for an unknown name.
    fn set(&mut self, name: &str, value: &mut dyn FnMut() -> Result<OsString, String>) -> Result<bool, String> {
        let text = |value: OsString| value.to_string_lossy().into_owned();
        match name {
            "--prompt" => self.prompt = Some(text(value()?)),
            "--negative" => self.negative = Some(text(value()?)),
            "--steps" => self.steps = Some(number(name, value()?)?),
            "--guidance" => self.guidance = Some(number(name, value()?)?),
            "--seed" => self.seed = Some(number(name, value()?)?),
            "-o" | "--outputs" => self.outputs = Some(value()?.into()),
            "--inputs" => self.inputs = Some(value()?.into()),
            "--json" => self.json = true,
            "--data" => self.data.push(value()?.into()),
            "--threads" => self.threads = Some(parse_threads(&text(value()?))?),
            _ => return Tracing::set(&mut self.trace, name, value),
        }
        Ok(true)
    }
}

/// Reads a command line without the binary's name. The error names the mistake.
pub(super) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command<Request>, String> {
    let command = read(arguments, Request::set)?;
    if let Command::Run(request) = &command {
        request.check(request.trace.is_some())?;
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command<Request>, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn a_recorded_picture_needs_no_file() {
        assert!(parsed("--prompt fox").is_err_and(|mistake| mistake.contains("-o is needed")));
        let request = Request { prompt: Some("fox".to_owned()), ..Request::default() };
        assert_eq!((request.check(true), request.check(false).is_err()), (Ok(()), true));
        assert!(Request { inputs: Some("a".into()), ..Request::default() }.check(true).is_err());
    }

    #[test]
    fn a_prompt_has_options() {
        let request = Request {
            prompt: Some("dusk".to_owned()),
            outputs: Some("a.png".into()),
            steps: Some(20),
            guidance: Some(7.5),
            seed: Some(3),
            ..Request::default()
        };
        let line = "--prompt dusk --steps 20 --guidance 7.5 --seed 3 -o a.png";
        assert_eq!(parsed(line), Ok(Command::Run(request.clone())));
        let defaults = Settings { steps: 50, guidance: 1.0, seed: 0 };
        assert_eq!(request.settings(defaults), Settings { steps: 20, guidance: 7.5, seed: 3 });
        assert_eq!(Request::default().settings(defaults), defaults);
    }

    #[test]
    fn malformed_lines_are_errors() {
        for line in [
            "",
            "--prompt",
            "--prompt a",
            "-o a.png",
            "--prompt a --inputs b -o c",
            "--prompt a -o b --steps x",
            "--draw a",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
