//! The int8 micro-kernel: an MR x NR tile with the accumulators in registers.
#![allow(unsafe_code, reason = "windows, panels and sums are read and written by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is the inner loop of a tile under the contract of `Tile`")]
#![allow(clippy::needless_range_loop, reason = "an index counts through several arrays and memory at once")]

use et_simd::{Bytes, GemmDot, Simd, part_of_word, word};

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

/// Computes an `R` x `V` tile.
///
/// # Safety
///
/// The CPU has the ISA of `D`, and the contract of [`Tile`] holds.
#[inline(always)]
pub unsafe fn compute<D: GemmDot, const R: usize, const V: usize>(tile: &Tile) {
    let isa = D::Isa::assume();
    let mut sums = [[isa.splat_i32(0); V]; R];
    let mut weights = tile.panel;
    let mut ahead = tile.ahead;
    for run in 0..tile.runs {
        let rows = tile.table.add(run * tile.step).cast::<[*const i8; R]>().read();
        if const { D::PAIRS && R > 1 } {
            weights = pairs::<D, R, V>(&mut sums, &rows, tile.length, weights);
            continue;
        }
        let whole = tile.length & !3;
        let mut index = 0;
        if const { R == 1 } {
            index = independent::<D, R, V>(&mut sums, &rows, whole, weights);
            weights = weights.add(index * const { stride::<D, V>() } / 4);
        }
        while index < whole {
            isa.prefetch_near(ahead, AHEAD);
            ahead = ahead.wrapping_add(AHEAD);
            step::<D, R, V>(&mut sums, weights, |row| word(rows[row].add(index)));
            weights = weights.add(const { stride::<D, V>() });
            index += 4;
        }
        if index < tile.length {
            let rest = tile.length - index;
            step::<D, R, V>(&mut sums, weights, |row| part_of_word(rows[row].add(index), rest));
            weights = weights.add(const { stride::<D, V>() });
        }
    }
    if const { D::PAIRS && R > 1 } {
        unpair::<D, R, V>(&mut sums);
    }
    for row in 0..R {
        for vector in 0..V {
            isa.write_i32(tile.sums.add(row * tile.stride + vector * D::LANES), sums[row][vector]);
        }
    }
}

/// Bytes from a packed row of four K elements to the next, in a panel of `V` vectors.
const fn stride<D: GemmDot, const V: usize>() -> usize {
    4 * (V * D::LANES).next_multiple_of(D::PACKED_LANES)
}

/// Weights for the K elements behind the end of a segment.
static ZEROS: [u8; 64] = [0; 64];

/// Multiplies pairs of rows, eight K elements per step. Returns the weights behind the segment.
#[inline(always)]
unsafe fn pairs<D: GemmDot, const R: usize, const V: usize>(
    sums: &mut [[Bytes<D>; V]; R],
    rows: &[*const i8; R],
    length: usize,
    mut weights: *const u8,
) -> *const u8 {
    const { assert!(!D::PAIRS || stride::<D, V>() <= ZEROS.len()) };
    let load = |weights: [*const u8; 2]| {
        let mut vectors = [weights.map(|weights| D::load(weights)); V];
        for (vector, slot) in vectors.iter_mut().enumerate() {
            *slot = weights.map(|weights| D::load(weights.add(4 * vector * D::LANES)));
        }
        vectors
    };
    let stride = const { stride::<D, V>() };
    let mut index = 0;
    while index + 8 <= length {
        add_eight::<D, R, V>(sums, load([weights, weights.add(stride)]), |row| eight_bytes(rows[row].add(index), 8));
        (index, weights) = (index + 8, weights.add(2 * stride));
    }
    let left = length - index;
    if left > 0 {
        let second = if left > 4 { weights.add(stride) } else { ZEROS.as_ptr() };
        add_eight::<D, R, V>(sums, load([weights, second]), |row| eight_bytes(rows[row].add(index), left));
        weights = weights.add(left.div_ceil(4) * stride);
    }
    weights
}

/// GEMV path: independent accumulator sets hide the latency of the dot product. Returns the bytes of the segment that
/// were consumed.
#[inline(always)]
unsafe fn independent<D: GemmDot, const R: usize, const V: usize>(
    sums: &mut [[Bytes<D>; V]; R],
    rows: &[*const i8; R],
    whole: usize,
    weights: *const u8,
) -> usize {
    let mut parts = [[[D::Isa::assume().splat_i32(0); V]; R]; 4];
    let mut index = 0;
    while index + 4 * D::GEMV_SETS <= whole {
        for (part, sums) in parts.iter_mut().enumerate().take(D::GEMV_SETS) {
            let weights = weights.add((index / 4 + part) * const { stride::<D, V>() });
            step::<D, R, V>(sums, weights, |row| word(rows[row].add(index + 4 * part)));
        }
        index += 4 * D::GEMV_SETS;
    }
    for part in parts.into_iter().take(D::GEMV_SETS) {
        for row in 0..R {
            for vector in 0..V {
                sums[row][vector] = sums[row][vector] + part[row][vector];
            }
        }
    }
    index
}

#[inline(always)]
unsafe fn step<D: GemmDot, const R: usize, const V: usize>(
    sums: &mut [[Bytes<D>; V]; R],
    weights: *const u8,
    read: impl Fn(usize) -> i32,
) {
    let load = |vector: usize| D::load(weights.add(4 * vector * D::LANES));
    // The smaller operand stays in registers.
    if const { V > 2 && R < V } {
        let mut activations = [D::spread(read(0)); R];
        for row in 1..R {
            activations[row] = D::spread(read(row));
        }
        for vector in 0..V {
            let weights = load(vector);
            for row in 0..R {
                sums[row][vector] = D::add(sums[row][vector], weights, activations[row]);
            }
        }
        return;
    }
    let mut vectors = [load(0); V];
    for (vector, slot) in vectors.iter_mut().enumerate() {
        *slot = load(vector);
    }
    for (row, sums) in sums.iter_mut().enumerate() {
        let activation = D::spread(read(row));
        for (sum, weights) in sums.iter_mut().zip(vectors) {
            *sum = D::add(*sum, weights, activation);
        }
    }
}

/// Adds the products of eight K elements with [`GemmDot::PAIRS`]. Accumulators 2 i and 2 i + 1 are the first and the last
/// columns of rows 2 i and 2 i + 1, until [`unpair`]; without a partner, the last row has accumulators as of
/// [`GemmDot::add`]. `read` loads eight int8 of a row.
///
/// # Safety
///
/// The CPU has the ISA of `D`.
#[inline(always)]
pub unsafe fn add_eight<D: GemmDot, const R: usize, const V: usize>(
    sums: &mut [[Bytes<D>; V]; R],
    weights: [[D::Weights; 2]; V],
    read: impl Fn(usize) -> i64,
) {
    let mut columns = weights;
    for columns in &mut columns {
        *columns = D::interleave(*columns);
    }
    let mut pairs = sums.chunks_exact_mut(2);
    for (pair, sums) in pairs.by_ref().enumerate() {
        let rows = D::pair([read(2 * pair), read(2 * pair + 1)]);
        for vector in 0..V {
            sums[0][vector] = D::add_pair(sums[0][vector], columns[vector][0], rows);
            sums[1][vector] = D::add_pair(sums[1][vector], columns[vector][1], rows);
        }
    }
    for sums in pairs.into_remainder() {
        let eight = read(R - 1);
        let [first, second] = [D::spread(eight as i32), D::spread((eight >> 32) as i32)];
        for vector in 0..V {
            let sum = D::add(sums[vector], weights[vector][0], first);
            sums[vector] = D::add(sum, weights[vector][1], second);
        }
    }
}

/// Orders the accumulators of [`add_eight`] by rows.
///
/// # Safety
///
/// The CPU has the ISA of `D`.
#[inline(always)]
pub unsafe fn unpair<D: GemmDot, const R: usize, const V: usize>(sums: &mut [[Bytes<D>; V]; R]) {
    for [first, last] in sums.as_chunks_mut::<2>().0 {
        for (first, last) in first.iter_mut().zip(last) {
            [*first, *last] = D::unpair([*first, *last]);
        }
    }
}

/// Loads up to eight bytes, zero-extended.
///
/// # Safety
///
/// `from` is valid for the smaller of `count` and eight bytes.
#[inline(always)]
pub unsafe fn eight_bytes(from: *const i8, count: usize) -> i64 {
    match count {
        0..4 => i64::from(part_of_word(from, count)),
        4..8 => {
            let high = part_of_word(from.add(4), count - 4);
            i64::from(word(from).cast_unsigned()) | i64::from(high) << 32
        }
        _ => from.cast::<i64>().read_unaligned(),
    }
}
