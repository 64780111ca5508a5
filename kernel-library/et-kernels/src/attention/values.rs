//! Sums of values, weighted by the softmax exponentials.
#![allow(unsafe_code)] // Tiles are read through pointers, whose bounds are checked once for a call.

use et_simd::{Float, Simd};

/// A block of packed values.
#[derive(Clone, Copy)]
pub struct Values {
    /// The first value.
    pub from: *const f32,
    /// The number of values.
    pub count: usize,
    /// Elements per value.
    pub width: usize,
}

/// The destination of a tile's accumulators.
#[derive(Clone, Copy)]
pub struct Sums {
    /// The accumulators of the first query.
    pub to: *mut f32,
    /// Query stride in elements.
    pub step: usize,
    /// Queries of the tile without padding.
    pub count: usize,
    /// Whether earlier blocks wrote accumulators.
    pub later: bool,
}

/// Accumulates the block: `(sums * before + weights x values) * after`, with weight rows `row` elements apart.
///
/// # Safety
/// `weights` has `M` rows with an element per value; values and sums are valid.
#[inline(always)]
pub unsafe fn weigh<S: Simd, const M: usize>(
    isa: S,
    weights: *const f32,
    row: usize,
    values: Values,
    sums: Sums,
    before: [f32; M],
    after: [f32; M],
) {
    let mut at = 0;
    macro_rules! tiles {
        ($count:literal, $end:expr, $lanes:expr) => {
            while at + $count * S::LANES <= $end {
                tile::<S, M, $count>(isa, weights, row, values, sums, before, after, at, $lanes);
                at += $count * S::LANES;
            }
        };
    }
    // SAFETY: the tile ends within the width, the last one after the remaining columns.
    unsafe {
        if const { S::REGISTERS >= 32 } {
            tiles!(4, values.width, S::LANES);
        }
        tiles!(2, values.width, S::LANES);
        tiles!(1, values.width.next_multiple_of(S::LANES), S::LANES.min(values.width - at));
    }
}

/// Accumulates `N` vectors from column `at` on, the last with `lanes` lanes.
///
/// # Safety
/// As for [`weigh`].
#[inline(always)]
#[allow(clippy::too_many_arguments)] // Two tensors, two lists of factors, and where.
unsafe fn tile<S: Simd, const M: usize, const N: usize>(
    isa: S,
    weights: *const f32,
    row: usize,
    values: Values,
    sums: Sums,
    before: [f32; M],
    after: [f32; M],
    at: usize,
    lanes: usize,
) {
    let mut tile = [[isa.splat(0.0); N]; M];
    let step = values.width.next_multiple_of(S::LANES);
    // SAFETY: the lanes are within the width; the caller guarantees values and weights.
    unsafe {
        if sums.later {
            for (query, tile) in tile.iter_mut().enumerate().take(sums.count) {
                for (vector, sum) in tile.iter_mut().enumerate() {
                    let from = sums.to.add(query * sums.step + at + vector * S::LANES);
                    *sum = isa.read_some(from, lanes) * isa.splat(before[query]);
                }
            }
        }
        let from = values.from.add(at);
        for index in 0..values.count {
            let mut vectors = [isa.splat(0.0); N];
            for (vector, numbers) in vectors.iter_mut().enumerate() {
                *numbers = isa.read(from.add(index * step + vector * S::LANES));
            }
            for (query, tile) in tile.iter_mut().enumerate() {
                let weight = isa.splat(*weights.add(query * row + index));
                for (sum, numbers) in tile.iter_mut().zip(vectors) {
                    *sum = weight.mul_add(numbers, *sum);
                }
            }
        }
        for (query, tile) in tile.iter().enumerate().take(sums.count) {
            for (vector, sum) in tile.iter().enumerate() {
                let to = sums.to.add(query * sums.step + at + vector * S::LANES);
                isa.write_some(to, lanes, *sum * isa.splat(after[query]));
            }
        }
    }
}
