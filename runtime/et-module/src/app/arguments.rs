//! The command line as data.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Effort, parse_threads};

/// The request of a command line.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Help,
    Version,
    Run(Subject),
    Bench(Subject, Effort),
}

/// The program to run and the inputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Subject {
    /// The method; the binary's own where the command line names no method.
    pub(super) method: Option<String>,
    /// Data files; the files beside the program file where the command line names no file.
    pub(super) data: Vec<PathBuf>,
    /// The data file of an adapter; the file beside the program file where the command line names no adapter.
    pub(super) adapter: Option<PathBuf>,
    pub(super) inputs: Option<PathBuf>,
    pub(super) outputs: Option<PathBuf>,
    /// The number of classes to print; [`crate::DEFAULT_TOP_K`] for `None` where no file takes the outputs.
    pub(super) top_k: Option<usize>,
    /// The most threads to use; [`crate::default_threads`] for `None`.
    pub(super) threads: Option<usize>,
}

/// Reads a command line without the binary's name. The error names the mistake.
pub(super) fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Command, String> {
    let (mut subject, mut effort, mut bench) = (Subject::default(), Effort::default(), false);
    while let Some(argument) = arguments.next() {
        let name = argument.to_string_lossy().into_owned();
        let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
        match name.as_str() {
            "--help" | "-h" => return Ok(Command::Help),
            "--version" | "-V" => return Ok(Command::Version),
            "--inputs" => subject.inputs = Some(value()?.into()),
            "--outputs" => subject.outputs = Some(value()?.into()),
            "--data" => subject.data.push(value()?.into()),
            "--adapter" => subject.adapter = Some(value()?.into()),
            "--method" => subject.method = Some(value()?.to_string_lossy().into_owned()),
            "--threads" => subject.threads = Some(parse_threads(&value()?.to_string_lossy())?),
            "--top-k" => subject.top_k = Some(number(&name, value()?)?),
            "--bench" => bench = true,
            "--warmup" => effort.warmup = number(&name, value()?)?,
            "--iters" => effort.iterations = number(&name, value()?)?,
            "--min-seconds" => effort.least = seconds(&name, value()?)?,
            _ => return Err(format!("unknown argument {name}")),
        }
    }
    Ok(if bench { Command::Bench(subject, effort) } else { Command::Run(subject) })
}

/// The value of an option as a number.
///
/// # Errors
/// The message of a failed condition.
pub fn number<T: std::str::FromStr>(name: &str, value: OsString) -> Result<T, String> {
    let text = value.to_string_lossy();
    text.parse().map_err(|_| format!("{name} needs a positive number, not {text}"))
}

fn seconds(name: &str, value: OsString) -> Result<Duration, String> {
    let seconds: f64 = number(name, value)?;
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("{name} needs a time in seconds, not {seconds}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn a_run_has_files_and_options() {
        let subject = Subject {
            inputs: Some("a".into()),
            outputs: Some("b".into()),
            top_k: Some(3),
            threads: Some(2),
            ..Subject::default()
        };
        assert_eq!(parsed("--inputs a --outputs b --top-k 3 --threads 2"), Ok(Command::Run(subject)));
    }

    #[test]
    fn a_method_and_data_files_may_be_named() {
        let data = vec!["w".into(), "v".into()];
        let subject = Subject { method: Some("encode".into()), data, outputs: Some("b".into()), ..Subject::default() };
        assert_eq!(parsed("--method encode --data w --data v --outputs b"), Ok(Command::Run(subject)));
    }

    #[test]
    fn a_bench_has_an_effort() {
        let effort = Effort { warmup: 1, iterations: 5, least: Duration::from_millis(500) };
        let line = "--bench --warmup 1 --iters 5 --min-seconds 0.5";
        assert_eq!(parsed(line), Ok(Command::Bench(Subject::default(), effort)));
    }

    #[test]
    fn malformed_lines_are_errors() {
        for line in [
            "--inptus a",
            "--inputs",
            "--threads 0",
            "--top-k -1",
            "--threads 257",
            "--bench --iters -1",
            "--bench --min-seconds NaN",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
