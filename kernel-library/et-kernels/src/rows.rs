//! Vectors of a row, with a filler past the end of the row.

use et_simd::{Float, Simd};

/// Loads the elements from index `at` on. Lanes past the end are `filler`.
#[inline(always)]
pub fn load_or<S: Simd>(isa: S, row: &[f32], at: usize, filler: S::F32) -> S::F32 {
    let rest = row.len().saturating_sub(at);
    let numbers = isa.load(row, at);
    if rest >= S::LANES { numbers } else { numbers.select(first(isa, rest), filler) }
}

/// The mask of the first `count` lanes.
#[inline(always)]
pub fn first<S: Simd>(isa: S, count: usize) -> S::Mask {
    const LANES: [f32; 16] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0];
    isa.load(&LANES, 0).is_less(isa.splat(count as f32))
}
