//! How a command line ends: what it says, where, and with which exit code.

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
    /// It is malformed.
    Usage(String),
    /// Files, inputs, loading or execution failed.
    Failed(String),
}

impl Failure {
    /// What failed while the command ran.
    pub fn failed(error: impl std::fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Writes what a command results in: its text, if there is any, to `out`, a failure to `talk`. Gives the exit code.
pub fn end(name: &str, done: Result<String, Failure>, out: &mut dyn Write, talk: &mut dyn Write) -> u8 {
    let fail = |talk: &mut dyn Write, problem: &str| writeln!(talk, "{name}: {}", problem.trim_end());
    // A reader that went away is told nothing more.
    let (code, _written) = match done {
        Ok(text) if text.is_empty() => (SUCCESS, Ok(())),
        Ok(text) => (SUCCESS, writeln!(out, "{}", text.trim_end())),
        Err(Failure::Usage(problem)) => (USAGE, fail(talk, &problem)),
        Err(Failure::Failed(problem)) => (FAILED, fail(talk, &problem)),
    };
    code
}
