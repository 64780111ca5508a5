//! Scratch memory of a call: typed parts of the bytes that the caller lends.
#![allow(unsafe_code, reason = "parts of bytes become aligned elements")]

use et_core::{Error, Result};

/// Bytes between starts of parts: a cache line.
const LINE: usize = 64;

/// The bytes that [`Scratch::take`] needs for `count` elements of `size` bytes, wherever the scratch starts. A size that no
/// memory has saturates, so that the scratch is too small for it.
pub const fn part(count: usize, size: usize) -> usize {
    match count.saturating_mul(size).checked_next_multiple_of(LINE) {
        Some(bytes) => bytes,
        None => usize::MAX,
    }
}

/// The bytes of several parts, wherever the scratch starts.
pub const fn total(parts: &[usize]) -> usize {
    let mut sum = LINE - 1;
    let mut index = 0;
    while index < parts.len() {
        sum = sum.saturating_add(parts[index]);
        index += 1;
    }
    sum
}

/// What is left of the scratch.
pub struct Scratch<'a> {
    rest: &'a mut [u8],
}

impl<'a> Scratch<'a> {
    /// All of it, from the first cache line on.
    pub fn new(bytes: &'a mut [u8]) -> Result<Self> {
        let skip = bytes.as_ptr().addr().wrapping_neg() % LINE;
        bytes.get_mut(skip..).map(|rest| Self { rest }).ok_or(Error::MemoryAllocationFailed)
    }

    /// The next `count` elements, which hold anything. They start on a cache line.
    pub fn take<T: Plain>(&mut self, count: usize) -> Result<&'a mut [T]> {
        let size = part(count, size_of::<T>());
        let (taken, rest) =
            core::mem::take(&mut self.rest).split_at_mut_checked(size).ok_or(Error::MemoryAllocationFailed)?;
        self.rest = rest;
        // SAFETY: the part starts on a cache line, holds `count` elements, and any bytes are elements.
        Ok(unsafe { core::slice::from_raw_parts_mut(taken.as_mut_ptr().cast(), count) })
    }
}

/// Types that any bytes are a value of, aligned to at most a cache line.
///
/// # Safety
///
/// Both must be true.
pub unsafe trait Plain: Copy {}

// SAFETY: any bytes are such a value.
unsafe impl Plain for f32 {}
// SAFETY: any bytes are such a value.
unsafe impl Plain for i8 {}
// SAFETY: any bytes are such a value.
unsafe impl Plain for u8 {}
// SAFETY: any bytes are such a value.
unsafe impl Plain for i32 {}
// SAFETY: a pointer may have any bits as long as it is not read through.
unsafe impl<T> Plain for *const T {}
