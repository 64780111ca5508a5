//! Conversions of C pointers to Rust values.
#![expect(unsafe_code, reason = "C hands over pointers")]

use std::ffi::{CStr, c_char};
use std::path::PathBuf;
use std::slice;

/// The message for an unexpected null pointer.
pub const NO_POINTER: &str = "a pointer is missing";
const NOT_UTF8: &str = "a text is not UTF-8";

/// A NUL-terminated text.
///
/// # Safety
/// `text` is null or points to a NUL-terminated text that does not change during `'a`.
pub unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, &'static str> {
    if text.is_null() {
        return Err(NO_POINTER);
    }
    // SAFETY: the pointer is not null, and the caller guarantees a terminated text.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| NOT_UTF8)
}

/// A NUL-terminated text; `None` for a null pointer.
///
/// # Safety
/// As of [`text`].
pub unsafe fn optional<'a>(given: *const c_char) -> Result<Option<&'a str>, &'static str> {
    // SAFETY: the caller says so.
    (!given.is_null()).then(|| unsafe { text(given) }).transpose()
}

/// A slice of `count` elements.
///
/// # Safety
/// `first` points to `count` elements that do not change during `'a`, or `count` is 0.
pub unsafe fn elements<'a, T>(first: *const T, count: usize) -> Result<&'a [T], &'static str> {
    match (count, first.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(NO_POINTER),
        // SAFETY: the pointer is not null, and the caller guarantees `count` elements.
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
/// `place` is null or points to a value that does not change during `'a`.
pub unsafe fn value<'a, T>(place: *const T) -> Result<&'a T, &'static str> {
    // SAFETY: the caller says so.
    unsafe { place.as_ref() }.ok_or(NO_POINTER)
}

/// Writes a value to an output parameter; a null pointer skips the write.
///
/// # Safety
/// `place` is null or valid for writes.
pub unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the pointer is not null, and the caller guarantees that the pointer is valid for writes.
        unsafe { place.write(value) }
    }
}

/// Copies the first elements to a place for `capacity`, and writes the number of all.
///
/// # Errors
/// A null pointer in the place of room for elements.
///
/// # Safety
/// `place` is valid for `capacity` writes, or `capacity` is 0; `count` is null or valid for writes.
pub unsafe fn fill<T: Copy>(
    elements: &[T],
    (place, capacity): (*mut T, usize),
    count: *mut usize,
) -> Result<(), &'static str> {
    let fitting = elements.len().min(capacity);
    if fitting > 0 && place.is_null() {
        return Err(NO_POINTER);
    }
    if fitting > 0 {
        // SAFETY: the pointer is not null, and the caller guarantees room; Rust made the elements elsewhere.
        unsafe { place.copy_from_nonoverlapping(elements.as_ptr(), fitting) };
    }
    // SAFETY: the caller says so.
    unsafe { put(count, elements.len()) };
    Ok(())
}

/// Hands an object over to C.
pub fn give<T>(object: T) -> *mut T {
    Box::into_raw(Box::new(object))
}

/// Takes ownership of an object back and drops the object.
///
/// # Safety
/// `object` is null or came from [`give`], and is not used again.
pub unsafe fn take<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: the pointer is not null, and the caller guarantees that [`give`] made the pointer.
        drop(unsafe { Box::from_raw(object) });
    }
}
