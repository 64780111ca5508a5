//! Failures in words, for delegates of operating systems: the runtime's errors are numbers, and drivers explain theirs.
//!
//! ```
//! use et_core::Error;
//! use et_problem::{Outcome, Problem, problem, report};
//!
//! let outcome: Outcome<()> = Err(Problem::unsupported("no driver is installed"));
//! assert_eq!(report(outcome), Err(Error::NotSupported));
//! assert_eq!(problem().as_deref(), Some("no driver is installed"));
//! ```
#![forbid(unsafe_code)]

use std::fmt;
use std::sync::{Mutex, PoisonError};

use et_core::Error;

/// A failure: the error of the runtime, and a plain sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The error that the delegate returns.
    pub error: Error,
    /// The failure in words.
    pub sentence: String,
}

/// The result of a step of a delegate.
pub type Outcome<T> = Result<T, Problem>;

impl Problem {
    /// A failure with its sentence.
    pub fn new(error: Error, sentence: impl Into<String>) -> Self {
        Self { error, sentence: sentence.into() }
    }

    /// A malformed blob.
    pub fn blob(sentence: impl Into<String>) -> Self {
        Self::new(Error::InvalidProgram, sentence)
    }

    /// A blob that this device cannot execute.
    pub fn unsupported(sentence: impl Into<String>) -> Self {
        Self::new(Error::NotSupported, sentence)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.sentence)
    }
}

impl std::error::Error for Problem {}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::new(error, error.message())
    }
}

static LAST: Mutex<Option<String>> = Mutex::new(None);

/// The last failure of a delegate call of this process in words.
pub fn problem() -> Option<String> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Keeps the words of a failure for [`problem()`], and returns the error.
///
/// # Errors
/// The error of the failure.
pub fn report<T>(outcome: Outcome<T>) -> et_core::Result<T> {
    outcome.map_err(|problem| {
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem.sentence);
        problem.error
    })
}
