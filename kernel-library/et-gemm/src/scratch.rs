//! Scratch memory of a call: typed parts of the bytes that the caller lends.
#![allow(unsafe_code, reason = "parts of bytes become aligned elements")]

use et_core::{Error, Plain, Result};

/// Bytes between starts of parts: a cache line.
const LINE: usize = 64;

/// The bytes that [`Scratch::take`] needs for `count` elements of `size` bytes, for any alignment of the scratch. The
/// size saturates on overflow, so that no scratch is large enough.
pub const fn part(count: usize, size: usize) -> usize {
    match count.saturating_mul(size).checked_next_multiple_of(LINE) {
        Some(bytes) => bytes,
        None => usize::MAX,
    }
}

/// The bytes of several parts, for any alignment of the scratch.
pub const fn total(parts: &[usize]) -> usize {
    let mut sum = LINE - 1;
    let mut index = 0;
    while index < parts.len() {
        sum = sum.saturating_add(parts[index]);
        index += 1;
    }
    sum
}

/// The unused rest of the scratch.
pub struct Scratch<'a> {
    rest: &'a mut [u8],
}

impl<'a> Scratch<'a> {
    /// The scratch from the first cache line boundary on.
    pub fn new(bytes: &'a mut [u8]) -> Result<Self> {
        let skip = bytes.as_ptr().addr().wrapping_neg() % LINE;
        bytes.get_mut(skip..).map(|rest| Self { rest }).ok_or(Error::MemoryAllocationFailed)
    }

    /// Takes the next `count` elements, cache-line aligned and with arbitrary contents.
    pub fn take<T: Plain>(&mut self, count: usize) -> Result<&'a mut [T]> {
        let size = part(count, size_of::<T>());
        let (taken, rest) =
            core::mem::take(&mut self.rest).split_at_mut_checked(size).ok_or(Error::MemoryAllocationFailed)?;
        self.rest = rest;
        // SAFETY: the part starts on a cache line, holds `count` elements, and any bytes are elements.
        Ok(unsafe { core::slice::from_raw_parts_mut(taken.as_mut_ptr().cast(), count) })
    }

    /// The bytes that are not taken.
    pub fn rest(self) -> &'a mut [u8] {
        self.rest
    }
}
