//! Failures in words.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use ash::vk;
use et_core::Error;

/// A failure: the error of the runtime, and a plain sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The error that the delegate returns.
    pub error: Error,
    /// The failure in words.
    pub sentence: String,
}

/// The result of a step of the delegate.
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

    /// The failure in a numbered part of a blob.
    pub(crate) fn within(self, kind: &str, index: usize) -> Self {
        Self::new(self.error, format!("{kind} {index} of the GPU program: {}", self.sentence))
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

/// The failure of the Vulkan call that should have done `what`.
pub fn failed(what: &str) -> impl FnOnce(vk::Result) -> Problem {
    move |result| match result {
        vk::Result::ERROR_DEVICE_LOST => {
            Problem::new(Error::DelegateInvalidHandle, "the GPU was lost: its driver reset it")
        }
        vk::Result::ERROR_OUT_OF_HOST_MEMORY
        | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        | vk::Result::ERROR_TOO_MANY_OBJECTS
        | vk::Result::ERROR_OUT_OF_POOL_MEMORY
        | vk::Result::ERROR_FRAGMENTED_POOL => {
            Problem::new(Error::DelegateMemoryAllocationFailed, format!("the GPU driver has no memory to {what}"))
        }
        vk::Result::ERROR_INCOMPATIBLE_DRIVER
        | vk::Result::ERROR_INITIALIZATION_FAILED
        | vk::Result::ERROR_FEATURE_NOT_PRESENT
        | vk::Result::ERROR_EXTENSION_NOT_PRESENT => {
            Problem::unsupported(format!("the GPU driver failed to {what}: {result}"))
        }
        _ => Problem::new(Error::Internal, format!("the GPU driver failed to {what}: {result}")),
    }
}

static LAST: Mutex<Option<String>> = Mutex::new(None);

/// The last failure of a delegate call of this process in words.
pub fn problem() -> Option<String> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Keeps the words of a failure for [`problem`], and returns the error.
pub fn report<T>(outcome: Outcome<T>) -> et_core::Result<T> {
    outcome.map_err(|problem| {
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem.sentence);
        problem.error
    })
}
