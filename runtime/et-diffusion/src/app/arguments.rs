//! The command line as data.

use std::ffi::OsString;
use std::path::PathBuf;

use et_module::app::number;
use et_module::parse_threads;

use crate::Settings;

/// The request of a command line.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Help,
    Version,
    Run(Box<Request>),
}

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

    /// Whether the request is complete.
    ///
    /// # Errors
    /// The missing or conflicting options.
    pub fn check(&self) -> Result<(), String> {
        match (&self.prompt, &self.inputs) {
            (Some(_), Some(_)) => Err("--prompt and --inputs do not go together".to_owned()),
            (None, None) => Err("--prompt is needed".to_owned()),
            _ if self.outputs.is_none() => Err("-o is needed: the file for the picture".to_owned()),
            _ => Ok(()),
        }
    }
}

/// Reads a command line without the binary's name. The error names the mistake.
pub(super) fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Command, String> {
    let mut request = Request::default();
    while let Some(argument) = arguments.next() {
        let name = argument.to_string_lossy().into_owned();
        let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
        let text = |value: OsString| value.to_string_lossy().into_owned();
        match name.as_str() {
            "--help" | "-h" => return Ok(Command::Help),
            "--version" | "-V" => return Ok(Command::Version),
            "--prompt" => request.prompt = Some(text(value()?)),
            "--negative" => request.negative = Some(text(value()?)),
            "--steps" => request.steps = Some(number(&name, value()?)?),
            "--guidance" => request.guidance = Some(number(&name, value()?)?),
            "--seed" => request.seed = Some(number(&name, value()?)?),
            "-o" | "--outputs" => request.outputs = Some(value()?.into()),
            "--inputs" => request.inputs = Some(value()?.into()),
            "--json" => request.json = true,
            "--data" => request.data.push(value()?.into()),
            "--threads" => request.threads = Some(parse_threads(&text(value()?))?),
            _ => return Err(format!("unknown argument {name}")),
        }
    }
    request.check()?;
    Ok(Command::Run(Box::new(request)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(OsString::from))
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
        assert_eq!(parsed(line), Ok(Command::Run(Box::new(request.clone()))));
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
