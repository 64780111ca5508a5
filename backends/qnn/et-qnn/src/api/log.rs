//! The messages of the library.

use core::ffi::{c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};

/// The level for errors.
pub const ERRORS: u32 = 1;

/// The longest message that is kept, in bytes.
const LONGEST: usize = 512;

/// The first error since the last [`take`]: later ones are its consequences.
static FIRST: Mutex<Option<String>> = Mutex::new(None);

/// Messages about options that this code does not set, which each finalization of a graph reports as errors.
const NOISE: &str = "GraphHtpSettings";

unsafe extern "C" {
    /// The C library's formatter, with the arguments as a `va_list`.
    fn vsnprintf(text: *mut c_char, size: usize, format: *const c_char, arguments: *mut c_void) -> c_int;
}

/// The first error since the last call.
pub fn take() -> Option<String> {
    FIRST.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Keeps an error.
pub unsafe extern "C" fn keep(format: *const c_char, level: u32, _time: u64, arguments: *mut c_void) {
    if level != ERRORS || format.is_null() {
        return;
    }
    let mut bytes = [0_u8; LONGEST];
    // SAFETY: the buffer has the stated size, and format and arguments are what the library hands to a callback that prints.
    let length = unsafe { vsnprintf(bytes.as_mut_ptr().cast(), LONGEST, format, arguments) };
    let length = usize::try_from(length).unwrap_or(0).min(LONGEST - 1);
    let text = String::from_utf8_lossy(bytes.get(..length).unwrap_or_default());
    let text = text.trim().trim_end_matches('.').to_owned();
    if !text.is_empty() && !text.contains(NOISE) {
        FIRST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
    }
}
