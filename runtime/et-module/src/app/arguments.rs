//! The command line as data.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::{Failure, Tracing};
use crate::{Effort, parse_threads};

/// What a command line asks a binary for.
#[derive(Debug, PartialEq)]
pub enum Command<R> {
    /// The help text.
    Help,
    /// The version.
    Version,
    /// A run with options.
    Run(R),
}

impl<R> Command<R> {
    /// The text for the user, or the failure, of a command line that was read. A mistake comes with the help text.
    ///
    /// # Errors
    /// A mistake in the command line, and failures of the run.
    pub fn answer(
        read: Result<Self, String>,
        stamp: &str,
        usage: &dyn Fn() -> String,
        run: impl FnOnce(R) -> Result<String, Failure>,
    ) -> Result<String, Failure> {
        match read {
            Err(problem) => Err(Failure::Usage(format!("{problem}\n\n{}", usage()))),
            Ok(Self::Help) => Ok(usage()),
            Ok(Self::Version) => Ok(stamp.to_owned()),
            Ok(Self::Run(request)) => run(request),
        }
    }
}

/// Reads a command line without the binary's name. `set` sets an option, whose value it may take from its last argument; false for an unknown
/// name. The error names the mistake.
///
/// # Errors
/// A mistake in the command line.
pub fn read<R: Default>(
    mut arguments: impl Iterator<Item = OsString>,
    set: impl Fn(&mut R, &str, &mut dyn FnMut() -> Result<OsString, String>) -> Result<bool, String>,
) -> Result<Command<R>, String> {
    let mut request = R::default();
    while let Some(argument) = arguments.next() {
        let name = argument.to_string_lossy().into_owned();
        match name.as_str() {
            "--help" | "-h" => return Ok(Command::Help),
            "--version" | "-V" => return Ok(Command::Version),
            _ => {}
        }
        if !set(&mut request, &name, &mut || arguments.next().ok_or(format!("{name} needs a value")))? {
            return Err(format!("unknown argument {name}"));
        }
    }
    Ok(Command::Run(request))
}

/// The options of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Request {
    pub(super) subject: Subject,
    /// Whether to measure, with this effort.
    pub(super) bench: bool,
    pub(super) effort: Effort,
    /// The file for a recording of the executions.
    pub(super) trace: Option<PathBuf>,
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
pub(super) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command<Request>, String> {
    read(arguments, Request::set)
}

impl Request {
    /// Sets the option `name`; false for an unknown name.
    fn set(&mut self, name: &str, value: &mut dyn FnMut() -> Result<OsString, String>) -> Result<bool, String> {
        let Self { subject, bench, effort, trace } = self;
        match name {
            "--inputs" => subject.inputs = Some(value()?.into()),
            "--outputs" => subject.outputs = Some(value()?.into()),
            "--data" => subject.data.push(value()?.into()),
            "--adapter" => subject.adapter = Some(value()?.into()),
            "--method" => subject.method = Some(value()?.to_string_lossy().into_owned()),
            "--threads" => subject.threads = Some(parse_threads(&value()?.to_string_lossy())?),
            "--top-k" => subject.top_k = Some(number(name, value()?)?),
            "--bench" => *bench = true,
            "--warmup" => effort.warmup = number(name, value()?)?,
            "--iters" => effort.iterations = number(name, value()?)?,
            "--min-seconds" => effort.least = seconds(name, value()?)?,
            _ => return Tracing::set(trace, name, value),
        }
        Ok(true)
    }
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

    fn parsed(line: &str) -> Result<Command<Request>, String> {
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
        let request = Request { subject, ..Request::default() };
        assert_eq!(parsed("--inputs a --outputs b --top-k 3 --threads 2"), Ok(Command::Run(request)));
    }

    #[test]
    fn a_method_and_data_files_may_be_named() {
        let data = vec!["w".into(), "v".into()];
        let subject = Subject { method: Some("encode".into()), data, outputs: Some("b".into()), ..Subject::default() };
        let request = Request { subject, ..Request::default() };
        assert_eq!(parsed("--method encode --data w --data v --outputs b"), Ok(Command::Run(request)));
    }

    #[test]
    fn a_bench_has_an_effort() {
        let effort = Effort { warmup: 1, iterations: 5, least: Duration::from_millis(500) };
        let line = "--bench --warmup 1 --iters 5 --min-seconds 0.5";
        let request = Request { subject: Subject::default(), bench: true, effort, trace: None };
        assert_eq!(parsed(line), Ok(Command::Run(request)));
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
