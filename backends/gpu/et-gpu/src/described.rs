//! The description of the GPU of this process.

use crate::driver::summary::summary;
use crate::problem::report;
use crate::shared::Shared;
use crate::summary::Summary;

/// Opens the GPU, if no delegate has, and describes it.
///
/// # Errors
/// The errors of loading a delegate; the words of a failure are in [`crate::problem()`].
pub fn device_summary() -> et_core::Result<Summary> {
    report(Shared::get().map(|shared| summary(&shared.device)))
}
