//! Functions on the files of a deployed version. A library for a recipe with updates exports them.
#![expect(unsafe_code, reason = "C hands over pointers")]

use std::ffi::{c_char, c_int};
use std::fmt::Display;
use std::path::Path;

use crate::failure;
use crate::pointers::text;

/// Acts on a deployed version.
///
/// # Safety
/// `deployed` is null or a terminated text.
pub unsafe fn on<E: Display>(deployed: *const c_char, act: impl FnOnce(&Path) -> Result<(), E>) -> c_int {
    // SAFETY: the caller says so.
    match unsafe { text(deployed) } {
        Ok(deployed) => failure::number(act(deployed.as_ref())),
        Err(problem) => failure::number(Err(problem)),
    }
}

/// Acts on a deployed version with the file of an update.
///
/// # Safety
/// `deployed` and `update` are null or terminated texts.
pub unsafe fn with<E: Display>(
    deployed: *const c_char,
    update: *const c_char,
    act: impl FnOnce(&Path, &Path) -> Result<(), E>,
) -> c_int {
    // SAFETY: the caller says so.
    match unsafe { text(update) } {
        // SAFETY: the same.
        Ok(update) => unsafe { on(deployed, |deployed| act(deployed, update.as_ref())) },
        Err(problem) => failure::number(Err(problem)),
    }
}
