//! The message of the last failure, for callers that get a status number.
#![expect(unsafe_code, reason = "functions that C calls have unmangled names")]

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::fmt::Display;

/// Success.
pub const OK: c_int = 0;
/// The status of a failure.
pub const FAILED: c_int = 1;

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Keeps a message for [`et_error_message`].
pub fn keep(problem: &dyn Display) {
    let text = problem.to_string().replace('\0', " ");
    MESSAGE.set(CString::new(text).unwrap_or_default());
}

/// The number for a result.
pub fn number<E: Display>(result: Result<(), E>) -> c_int {
    or(result.map(|()| OK), FAILED)
}

/// The value of a result; on an error, notes the message and returns `failed`.
pub fn or<T, E: Display>(result: Result<T, E>, failed: T) -> T {
    result.unwrap_or_else(|problem| {
        keep(&problem);
        failed
    })
}

/// The message of the last failure on this thread. The text is valid until the next failure on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn et_error_message() -> *const c_char {
    MESSAGE.with_borrow(|message| message.as_ptr())
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn the_last_message_is_kept() {
        assert_eq!((number::<String>(Ok(())), number(Err("a")), number(Err("b\0c"))), (OK, FAILED, FAILED));
        // SAFETY: the message is a terminated text, and nothing fails meanwhile.
        let message = unsafe { CStr::from_ptr(et_error_message()) };
        assert_eq!(message.to_str(), Ok("b c"));
    }
}
