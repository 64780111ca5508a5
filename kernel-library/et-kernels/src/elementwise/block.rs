//! Blocks of elements in scratch memory.
#![allow(unsafe_code)] // Reads through pointers, checked once for a program.

use et_simd::Isa;

/// The most elements of a block. Eight blocks are half of a first-level cache.
pub const BLOCK: usize = 512;

/// The elements of an operand, or one number for all elements.
#[derive(Clone, Copy)]
pub struct Stream {
    /// The first of them.
    from: *const f32,
    /// 1, or 0 where all elements are the first vector.
    step: usize,
}

impl Stream {
    /// Elements one after the other.
    #[inline(always)]
    pub fn elements(from: *const f32) -> Self {
        Self { from, step: 1 }
    }

    /// The same number everywhere.
    #[inline(always)]
    pub fn repeated(vector: &[f32; 16]) -> Self {
        Self { from: vector.as_ptr(), step: 0 }
    }

    /// A vector of elements from `at` on.
    ///
    /// # Safety
    /// There are as many elements.
    #[inline(always)]
    pub unsafe fn read<S: Isa>(self, isa: S, at: usize) -> S::F32 {
        // SAFETY: the caller says so; a repeated vector is as long as the longest.
        unsafe { isa.read(self.from.add(at * self.step)) }
    }

    /// The `count` elements from `at` on.
    ///
    /// # Safety
    /// There are as many elements.
    #[inline(always)]
    pub unsafe fn read_part<S: Isa>(self, isa: S, at: usize, count: usize) -> S::F32 {
        // SAFETY: as above.
        unsafe { isa.read_part(self.from.add(at * self.step), count) }
    }
}
