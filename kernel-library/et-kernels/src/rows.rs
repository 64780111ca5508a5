//! Vectors of a row: a filler past the end, and folds.
#![allow(unsafe_code)] // Whole vectors are read without a check of each.

use et_simd::{Float, Simd};

/// The largest number of lanes of any ISA.
pub const MOST_LANES: usize = 16;

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

/// Folds the vectors of a row into `N` independent accumulators, for accuracy and to hide the latency. Lanes past the end are
/// `filler`. Closures must be `#[inline(always)]`.
#[inline(always)]
pub fn fold<S: Simd, const N: usize>(
    isa: S,
    row: &[f32],
    [start, filler]: [S::F32; 2],
    step: impl Fn(S::F32, S::F32) -> S::F32,
) -> [S::F32; N] {
    let mut folded = [start; N];
    let whole = row.len() - row.len() % (N * S::LANES);
    for at in (0..whole).step_by(N * S::LANES) {
        for (part, folded) in folded.iter_mut().enumerate() {
            // SAFETY: the loop condition leaves room for `N` vectors.
            *folded = step(*folded, unsafe { isa.read(row.as_ptr().add(at + part * S::LANES)) });
        }
    }
    for at in (whole..row.len()).step_by(S::LANES) {
        folded[0] = step(folded[0], load_or(isa, row, at, filler));
    }
    folded
}
