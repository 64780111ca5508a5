//! Blocks of elements in scratch memory.
#![allow(unsafe_code)] // Reads through pointers, checked once for a program.

use et_simd::Simd;

/// The maximum elements per block. Eight blocks take half of L1.
pub const BLOCK: usize = 512;

/// The elements of an operand, or a broadcast constant.
#[derive(Clone, Copy)]
pub struct Stream {
    /// The first element.
    from: *const f32,
    /// 1, or 0 to repeat the first vector.
    step: usize,
}

impl Stream {
    /// Contiguous elements.
    #[inline(always)]
    pub fn elements(from: *const f32) -> Self {
        Self { from, step: 1 }
    }

    /// A broadcast constant.
    #[inline(always)]
    pub fn repeated(vector: &[f32; 16]) -> Self {
        Self { from: vector.as_ptr(), step: 0 }
    }

    /// Loads a vector of elements from `at` on.
    ///
    /// # Safety
    /// The stream has `at + LANES` elements.
    #[inline(always)]
    pub unsafe fn read<S: Simd>(self, isa: S, at: usize) -> S::F32 {
        // SAFETY: the caller guarantees the elements; a broadcast constant has 16, at least the lanes of any ISA.
        unsafe { isa.read(self.from.add(at * self.step)) }
    }

    /// Loads `count` elements from `at` on.
    ///
    /// # Safety
    /// The stream has `at + count` elements.
    #[inline(always)]
    pub unsafe fn read_part<S: Simd>(self, isa: S, at: usize, count: usize) -> S::F32 {
        // SAFETY: as above.
        unsafe { isa.read_part(self.from.add(at * self.step), count) }
    }
}
