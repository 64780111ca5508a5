//! The token function and the segment function of JavaScript, which has no pointers to functions of its own.
#![expect(unsafe_code, reason = "calls a function that JavaScript gives, and has an unmangled name")]

use std::ffi::{c_char, c_void};

use crate::language::{NO_TOKEN, See};
use crate::speech::{SeeSegment, SpokenSegment};

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

unsafe extern "C" fn forward_segment(_context: *mut c_void, segment: *const SpokenSegment) -> bool {
    // SAFETY: the caller hands over a segment for the duration of the call.
    let Some(SpokenSegment { text, size, .. }) = (unsafe { segment.as_ref() }) else { return false };
    // SAFETY: the import reads the record of the segment in the place of the context.
    unsafe { see(segment.cast_mut().cast(), NO_TOKEN, *text, *size) }
}

/// The segment function that calls the import `see` of the module `etbuild` with the segment as the context: `et_web_hear` of a generated
/// library.
pub fn hear() -> SeeSegment {
    Some(forward_segment)
}
