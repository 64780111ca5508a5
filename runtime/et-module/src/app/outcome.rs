//! The end of a command line: the text, the stream for the text, and the exit code.

use std::io::Write;

/// The command succeeded.
const SUCCESS: u8 = 0;
/// The command line is malformed.
const USAGE: u8 = 2;
/// The program failed.
const FAILED: u8 = 8;

/// Why a command line was not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The command line is malformed.
    Usage(String),
    /// Files, inputs, loading or execution failed.
    Failed(String),
}

impl Failure {
    /// The failure of a running command.
    pub fn failed(error: impl std::fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Writes the result of a command: the text, if any, to `out`, a failure to `talk`. Returns the exit code.
pub fn end(name: &str, done: Result<String, Failure>, out: &mut dyn Write, talk: &mut dyn Write) -> u8 {
    let fail = |talk: &mut dyn Write, problem: &str| writeln!(talk, "{name}: {}", problem.trim_end());
    // A reader that went away gets no message.
    let (code, _written) = match done {
        Ok(text) if text.is_empty() => (SUCCESS, Ok(())),
        Ok(text) => (SUCCESS, writeln!(out, "{}", text.trim_end())),
        Err(Failure::Usage(problem)) => (USAGE, fail(talk, &problem)),
        Err(Failure::Failed(problem)) => (FAILED, fail(talk, &problem)),
    };
    code
}
