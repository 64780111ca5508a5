//! Jobs without an answer.

use et_llm::Error;

/// Why a job has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The deadline has passed.
    TimedOut,
    /// The server ends.
    Stopping,
    /// The model failed.
    Model(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Model(error.to_string())
    }
}
