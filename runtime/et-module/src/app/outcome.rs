//! The end of a command line: the text, the stream for the text, and the exit code.

use std::io::{ErrorKind, Write};

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
    let written = done.and_then(|text| match print(out, text.trim_end()) {
        // A reader that went away, as `head` does, wants no more.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Failed(format!("the standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    });
    let (code, problem) = match written {
        Ok(()) => return SUCCESS,
        Err(Failure::Usage(problem)) => (USAGE, problem),
        Err(Failure::Failed(problem)) => (FAILED, problem),
    };
    let _ = writeln!(talk, "{name}: {}", problem.trim_end());
    code
}

/// Writes a text, whole.
fn print(out: &mut dyn Write, text: &str) -> std::io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    writeln!(out, "{text}")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use std::io::{Error, Result};

    use super::*;

    /// A stream that takes nothing.
    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> Result<usize> {
            Err(Error::from(self.0))
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_text_that_is_not_written_is_a_failure_unless_its_reader_went_away() {
        for (kind, code) in [(ErrorKind::BrokenPipe, SUCCESS), (ErrorKind::StorageFull, FAILED)] {
            let mut told = Vec::new();
            assert_eq!(end("net", Ok("text".to_owned()), &mut Broken(kind), &mut told), code);
            assert_eq!(told.starts_with(b"net: the standard output cannot be written: "), code == FAILED);
            assert_eq!(end("net", Ok(String::new()), &mut Broken(kind), &mut told), SUCCESS);
        }
    }
}
