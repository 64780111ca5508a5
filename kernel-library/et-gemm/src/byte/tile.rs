//! The int8 micro-kernel: an MR x NR tile with the accumulators in registers.
#![allow(unsafe_code, reason = "windows, panels and sums are read and written by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is the inner loop of a tile under the contract of `Tile`")]
#![allow(clippy::needless_range_loop, reason = "an index counts through several arrays and memory at once")]

use super::dot::{Dots, part_of_word, word};

/// Arguments of the micro-kernel.
///
/// # Safety
///
/// `table` has `R` pointers per K segment, `step` apart from segment to segment, each valid for `length` bytes; `panel`
/// has a weight vector for each four int8 of each K segment; `sums` has room for `R` accumulator rows of a panel's
/// columns, `stride` apart.
pub struct Tile {
    /// The indirection buffer: pointers to the K segments of the rows.
    pub table: *const *const i8,
    /// Pointers from a K segment to the next.
    pub step: usize,
    /// K segments per row.
    pub runs: usize,
    /// Bytes per K segment.
    pub length: usize,
    /// The packed weights of the panel.
    pub panel: *const u8,
    /// Destination of the accumulators.
    pub sums: *mut i32,
    /// Row stride of the accumulators, in elements.
    pub stride: usize,
    /// Prefetch pointer: each K step of four int8 prefetches [`AHEAD`] bytes. Any address is allowed.
    pub ahead: *const u8,
}

/// Bytes prefetched per K step of four int8: a cache line.
pub const AHEAD: usize = 64;

/// A micro-kernel of `R` rows and `V` vectors.
pub type TileKernel = unsafe fn(&Tile);

/// Computes an `R` x `V` tile.
///
/// # Safety
///
/// The CPU has the ISA of `D`, and the contract of [`Tile`] holds.
#[inline(always)]
pub unsafe fn compute<D: Dots, const R: usize, const V: usize>(tile: &Tile) {
    let mut sums = [[D::zero(); V]; R];
    let mut weights = tile.panel;
    let mut ahead = tile.ahead;
    for run in 0..tile.runs {
        let rows = tile.table.add(run * tile.step).cast::<[*const i8; R]>().read();
        let whole = tile.length & !3;
        let mut index = 0;
        if R == 1 {
            index = pairs::<D, R, V>(&mut sums, &rows, whole, weights);
            weights = weights.add(index * V * D::LANES);
        }
        while index < whole {
            D::prefetch(ahead, AHEAD);
            ahead = ahead.wrapping_add(AHEAD);
            step::<D, R, V>(&mut sums, weights, |row| word(rows[row].add(index)));
            weights = weights.add(4 * V * D::LANES);
            index += 4;
        }
        if index < tile.length {
            let rest = tile.length - index;
            step::<D, R, V>(&mut sums, weights, |row| part_of_word(rows[row].add(index), rest));
            weights = weights.add(4 * V * D::LANES);
        }
    }
    for row in 0..R {
        for vector in 0..V {
            sums[row][vector].store(tile.sums.add(row * tile.stride + vector * D::LANES));
        }
    }
}

/// GEMV path: four independent accumulator sets hide the latency of the dot product. Returns the bytes of the segment
/// that were consumed.
#[inline(always)]
unsafe fn pairs<D: Dots, const R: usize, const V: usize>(
    sums: &mut [[D; V]; R],
    rows: &[*const i8; R],
    whole: usize,
    weights: *const u8,
) -> usize {
    let mut parts = [[[D::zero(); V]; R]; 4];
    let mut index = 0;
    while index + 16 <= whole {
        for (part, sums) in parts.iter_mut().enumerate() {
            let weights = weights.add((index + 4 * part) * V * D::LANES);
            step::<D, R, V>(sums, weights, |row| word(rows[row].add(index + 4 * part)));
        }
        index += 16;
    }
    for part in parts {
        for row in 0..R {
            for vector in 0..V {
                sums[row][vector] = sums[row][vector].plus(part[row][vector]);
            }
        }
    }
    index
}

#[inline(always)]
unsafe fn step<D: Dots, const R: usize, const V: usize>(
    sums: &mut [[D; V]; R],
    weights: *const u8,
    read: impl Fn(usize) -> i32,
) {
    let mut vectors = [D::weights(weights); V];
    for (vector, slot) in vectors.iter_mut().enumerate() {
        *slot = D::weights(weights.add(4 * vector * D::LANES));
    }
    for (row, sums) in sums.iter_mut().enumerate() {
        let activation = D::spread(read(row));
        for (sum, weights) in sums.iter_mut().zip(vectors) {
            *sum = sum.add(weights, activation);
        }
    }
}
