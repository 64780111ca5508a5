//! Failures of native calls.

use std::ffi::NulError;
use std::num::TryFromIntError;

/// Why a native call has no result.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// An exception of Java is pending on the thread.
    Thrown,
    /// The message of the exception to throw.
    Said(String),
}

pub type Result<T> = std::result::Result<T, Failure>;

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::Said(message.to_owned())
    }
}

impl From<NulError> for Failure {
    fn from(_: NulError) -> Self {
        Self::from("a text contains a zero character")
    }
}

impl From<TryFromIntError> for Failure {
    fn from(_: TryFromIntError) -> Self {
        Self::from("a number is negative or too large")
    }
}
