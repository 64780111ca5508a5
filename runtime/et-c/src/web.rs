//! The functions of JavaScript that are told answers: JavaScript has no pointers to functions of its own.
#![expect(unsafe_code, reason = "calls a function that JavaScript gives, and has an unmangled name")]

use std::ffi::{c_char, c_void};

use crate::functions::{GivenCall, GivenLikelihood, NO_TOKEN, See, SeeCall, SeeLikelihood, Think};
use crate::speech::{SeeSegment, SpokenSegment};

#[link(wasm_import_module = "etbuild")]
unsafe extern "C" {
    /// Is told a token and its text; false ends the answer.
    fn see(context: *mut c_void, token: u32, text: *const c_char, size: usize) -> bool;
    /// Is told thoughts; false ends the answer.
    fn think(context: *mut c_void, text: *const c_char, size: usize) -> bool;
    /// Is told the record of a call of a tool; false ends the answer.
    fn call(context: *mut c_void, call: *const GivenCall) -> bool;
    /// Is told the record of how probable a token is; false ends the answer.
    fn likely(context: *mut c_void, likelihood: *const GivenLikelihood) -> bool;
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

unsafe extern "C" fn forward_thoughts(context: *mut c_void, text: *const c_char, size: usize) -> bool {
    // SAFETY: the arguments are those of `et_text_function`, which the import has too.
    unsafe { think(context, text, size) }
}

/// The text function that calls the import `think` of the module `etbuild`.
#[unsafe(no_mangle)]
pub extern "C" fn et_web_think() -> Think {
    Some(forward_thoughts)
}

unsafe extern "C" fn forward_call(context: *mut c_void, made: *const GivenCall) -> bool {
    // SAFETY: the arguments are those of `et_call_function`, which the import has too.
    unsafe { call(context, made) }
}

/// The call function that calls the import `call` of the module `etbuild`.
#[unsafe(no_mangle)]
pub extern "C" fn et_web_call() -> SeeCall {
    Some(forward_call)
}

unsafe extern "C" fn forward_likelihood(context: *mut c_void, likelihood: *const GivenLikelihood) -> bool {
    // SAFETY: the arguments are those of `et_likelihood_function`, which the import has too.
    unsafe { likely(context, likelihood) }
}

/// The likelihood function that calls the import `likely` of the module `etbuild`.
#[unsafe(no_mangle)]
pub extern "C" fn et_web_likely() -> SeeLikelihood {
    Some(forward_likelihood)
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
