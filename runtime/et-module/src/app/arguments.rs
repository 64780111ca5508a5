//! The command line as data.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::Effort;

/// What a command line asks for.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Help,
    Version,
    Run(Files),
    Bench(Files, Effort),
}

/// Files that a command reads and writes.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Files {
    pub(super) inputs: Option<PathBuf>,
    pub(super) outputs: Option<PathBuf>,
}

/// Reads a command line without the binary's name. The error says what is wrong.
pub(super) fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Command, String> {
    let (mut files, mut effort, mut bench) = (Files::default(), Effort::default(), false);
    while let Some(argument) = arguments.next() {
        let name = argument.to_string_lossy().into_owned();
        let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
        match name.as_str() {
            "--help" | "-h" => return Ok(Command::Help),
            "--version" | "-V" => return Ok(Command::Version),
            "--inputs" => files.inputs = Some(value()?.into()),
            "--outputs" => files.outputs = Some(value()?.into()),
            "--threads" => drop(number::<std::num::NonZero<usize>>(&name, value()?)?),
            "--bench" => bench = true,
            "--warmup" => effort.warmup = number(&name, value()?)?,
            "--iters" => effort.iterations = number(&name, value()?)?,
            "--min-seconds" => effort.least = seconds(&name, value()?)?,
            _ => return Err(format!("unknown argument {name}")),
        }
    }
    match (&files.inputs, &files.outputs) {
        _ if bench => Ok(Command::Bench(files, effort)),
        (Some(_), Some(_)) => Ok(Command::Run(files)),
        _ => Err("--inputs and --outputs are needed".to_owned()),
    }
}

fn number<T: std::str::FromStr>(name: &str, value: OsString) -> Result<T, String> {
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
    fn a_run_needs_both_files() {
        let files = Files { inputs: Some("a".into()), outputs: Some("b".into()) };
        assert_eq!(parsed("--inputs a --outputs b --threads 2"), Ok(Command::Run(files)));
        assert!(parsed("--inputs a").is_err());
        assert!(parsed("").is_err());
    }

    #[test]
    fn a_bench_has_an_effort() {
        let effort = Effort { warmup: 1, iterations: 5, least: Duration::from_millis(500) };
        let line = "--bench --warmup 1 --iters 5 --min-seconds 0.5";
        assert_eq!(parsed(line), Ok(Command::Bench(Files::default(), effort)));
    }

    #[test]
    fn malformed_lines_are_errors() {
        for line in ["--inptus a", "--inputs", "--threads 0", "--bench --iters -1", "--bench --min-seconds NaN"] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
