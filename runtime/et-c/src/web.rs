//! The token function of JavaScript, which has no pointers to functions of its own.
#![expect(unsafe_code, reason = "calls a function that JavaScript gives, and has an unmangled name")]

use std::ffi::{c_char, c_void};

use crate::language::See;

#[link(wasm_import_module = "etbuild")]
unsafe extern "C" {
    /// Is told a token and its text; false ends the answer.
    fn see(context: *mut c_void, token: u32, text: *const c_char, size: usize) -> bool;
}

unsafe extern "C" fn forward(context: *mut c_void, token: u32, text: *const c_char, size: usize) -> bool {
    // SAFETY: the arguments are those of `et_token_function`, which the import has too.
    unsafe { see(context, token, text, size) }
}

/// The token function that calls the import `see` of the module `etbuild`.
#[unsafe(no_mangle)]
pub extern "C" fn et_web_see() -> See {
    Some(forward)
}
