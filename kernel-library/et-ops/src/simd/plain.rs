//! Fallback for processors without a known SIMD instruction set: arrays of four lanes, which the compiler may
//! vectorize.

use super::{Vector, Work};

impl Vector<4> for [f32; 4] {
    #[inline(always)]
    fn splat(number: f32) -> Self {
        [number; 4]
    }
    #[inline(always)]
    fn load(numbers: &[f32; 4]) -> Self {
        *numbers
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f32; 4]) {
        *numbers = self;
    }
    #[inline(always)]
    fn plus_product(self, left: Self, right: Self) -> Self {
        core::array::from_fn(|lane| self[lane] + left[lane] * right[lane])
    }
}

/// Does the work.
pub fn run(work: impl Work) {
    work.run::<[f32; 4], 4, 4>();
}
