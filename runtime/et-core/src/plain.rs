//! Types that memory of any content may be read as.
#![allow(unsafe_code, reason = "the trait is a promise about bit patterns")]

use crate::Half;

/// A type of which every bit pattern is a value, aligned to at most a cache line.
///
/// # Safety
/// Both are true.
pub unsafe trait Plain: Copy + 'static {}

/// Implements [`Plain`] for numbers.
macro_rules! plain {
    ($($type:ty),*) => { $(
        // SAFETY: every bit pattern is a valid integer or float, aligned to its size at most.
        unsafe impl Plain for $type {}
    )* };
}
plain!(u8, i8, i16, u32, i32, i64, f32, Half);

// SAFETY: a raw pointer may have any bit pattern; only dereferencing requires validity.
unsafe impl<T: 'static> Plain for *const T {}
// SAFETY: an array consists of its elements.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
