//! What C hands over, as Rust sees it.
#![expect(unsafe_code, reason = "C hands over pointers")]

use std::ffi::{CStr, c_char};
use std::path::PathBuf;
use std::slice;

/// What is wrong with what was handed over.
pub const NO_POINTER: &str = "a pointer is missing";
const NOT_UTF8: &str = "a text is not UTF-8";

/// A terminated text.
///
/// # Safety
/// `text` is null or points to a terminated text that stays as it is for `'a`.
pub unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, &'static str> {
    if text.is_null() {
        return Err(NO_POINTER);
    }
    // SAFETY: the caller says so, and it is not null.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| NOT_UTF8)
}

/// `count` elements.
///
/// # Safety
/// `first` points to `count` elements that stay as they are for `'a`, or `count` is 0.
pub unsafe fn elements<'a, T>(first: *const T, count: usize) -> Result<&'a [T], &'static str> {
    match (count, first.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(NO_POINTER),
        // SAFETY: the caller says so, and it is not null.
        (_, false) => Ok(unsafe { slice::from_raw_parts(first, count) }),
    }
}

/// The names of files.
///
/// # Safety
/// `first` points to `count` terminated texts, or `count` is 0.
pub unsafe fn paths(first: *const *const c_char, count: usize) -> Result<Vec<PathBuf>, &'static str> {
    // SAFETY: the caller says so.
    let names = unsafe { elements(first, count) }?;
    // SAFETY: the same.
    names.iter().map(|name| unsafe { text(*name) }.map(PathBuf::from)).collect()
}

/// An object that C has the only pointer to.
///
/// # Safety
/// `object` is null or came from [`give`], was not taken back, and is used by nobody else for `'a`.
pub unsafe fn object<'a, T>(object: *mut T) -> Result<&'a mut T, &'static str> {
    // SAFETY: the caller says so.
    unsafe { object.as_mut() }.ok_or(NO_POINTER)
}

/// A value that C points to, and that this library reads.
///
/// # Safety
/// `place` is null or points to a value that stays as it is for `'a`.
pub unsafe fn value<'a, T>(place: *const T) -> Result<&'a T, &'static str> {
    // SAFETY: the caller says so.
    unsafe { place.as_ref() }.ok_or(NO_POINTER)
}

/// Writes a value where C has room for it; nothing where it has none.
///
/// # Safety
/// `place` is null or may be written.
pub unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the caller says so, and it is not null.
        unsafe { place.write(value) }
    }
}

/// Hands an object over to C.
pub fn give<T>(object: T) -> *mut T {
    Box::into_raw(Box::new(object))
}

/// Takes an object back, and with it all that it has.
///
/// # Safety
/// `object` is null or came from [`give`], and is used by nobody any more.
pub unsafe fn take<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: the caller says so, and it is not null.
        drop(unsafe { Box::from_raw(object) });
    }
}
