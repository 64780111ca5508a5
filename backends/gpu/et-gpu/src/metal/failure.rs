//! Failures of Metal.

use et_core::Error;
use objc2_foundation::NSError;

use crate::problem::Problem;

/// The failure of Metal that should have done `what`.
pub fn failed(what: &str) -> impl FnOnce(&NSError) -> Problem {
    move |error| {
        let reason = error.localizedDescription();
        Problem::new(Error::Internal, format!("the GPU driver failed to {what}: {reason}"))
    }
}

/// The failure of Metal that has no memory to do `what`.
pub fn no_memory(what: &str) -> Problem {
    Problem::new(Error::DelegateMemoryAllocationFailed, format!("the GPU driver has no memory to {what}"))
}
