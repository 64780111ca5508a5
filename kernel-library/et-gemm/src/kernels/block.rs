//! The micro-kernel of blockwise int4 and int8 weights: int32 accumulators within a block, `f32` accumulators across blocks.
#![allow(unsafe_code, reason = "rows, panels and outputs are read and written by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is the inner loop of a tile under the contract of `Tile`")]
#![allow(clippy::needless_range_loop, reason = "an index counts through several arrays and memory at once")]

use et_simd::{Bytes, Float, GemmDot, Integer, Simd, word};

use super::block_format::{BlockFormat, Form};
use super::finish::RowScale;
use super::int8::{add_eight, eight_bytes, unpair};

/// Prefetch distance in bytes: a GEMM of few rows is bound by the bandwidth of the weights.
const AHEAD: usize = 3 << 10;

/// MR and NR of an AMX tile: two tile registers in each direction.
pub const SIDE: usize = 32;

/// Elements of an AMX tile.
pub const TILE: usize = SIDE * SIDE;

/// AMX accumulator tiles in scratch memory.
pub const SETS: usize = 2;

/// K bytes per AMX instruction.
#[cfg(target_arch = "x86_64")]
pub const fn depth(group: usize) -> usize {
    if group.is_multiple_of(64) { 64 } else { 32 }
}

/// Arguments of the micro-kernel.
///
/// # Safety
///
/// `input` has `R` int8 rows of `groups` blocks; `row_sums` has a sum per block of each row; `row_scales` has qparams
/// per row; `panel` has the layout of [`crate::block::pack`]; `output` has room for `R` rows of `columns` elements.
pub struct Tile {
    /// The int8 rows of A.
    pub input: *const i8,
    /// Row stride of A in bytes.
    pub input_stride: usize,
    /// The row sum of each block of each row, times the offset of the weights and -1: the correction for the offset.
    pub row_sums: *const i32,
    /// Per-token qparams.
    pub row_scales: *const RowScale,
    /// Blocks per row.
    pub groups: usize,
    /// The packed format; the block size is a multiple of eight.
    pub form: BlockFormat,
    /// The packed weights of the panel.
    pub panel: *const u8,
    /// Columns of the panel.
    pub width: usize,
    /// The first column of the tile within the panel.
    pub column: usize,
    /// The output.
    pub output: *mut f32,
    /// Row stride of the output, in elements.
    pub stride: usize,
    /// Columns that are stored.
    pub columns: usize,
}

impl Tile {
    /// The first block of the panel.
    pub const fn first_group(&self) -> *const u8 {
        self.panel.wrapping_add(self.form.header() * self.width)
    }

    /// The second-level scales from a column of the tile on, if the format has second-level scales.
    const fn units(&self, column: usize) -> *const f32 {
        self.first_group().cast::<f32>().wrapping_sub(self.width).wrapping_add(self.column + column)
    }
}

/// Computes a tile without the activation.
///
/// # Safety
///
/// The CPU has the ISA of `D`, and the contract of [`Tile`] holds with the form `F`.
#[inline(always)]
pub unsafe fn compute<D: GemmDot, F: Form, const R: usize, const V: usize>(tile: &Tile) {
    let (width, size) = (tile.width, const { F::SCALES.size() });
    let isa = D::Isa::assume();
    let mut totals = [[isa.splat(0.0); V]; R];
    let mut from = tile.first_group();
    let mut scales = from;
    for group in 0..tile.groups {
        scales = scales.wrapping_add(width);
        if group % const { F::SCALES.span() } == 0 {
            scales = from.add(size * tile.column);
            from = from.add(size * const { F::SCALES.span() } * width);
        }
        let mut sums = [[isa.splat_i32(0); V]; R];
        for (row, sums) in sums.iter_mut().enumerate() {
            *sums = [isa.splat_i32(*tile.row_sums.add(row * tile.groups + group)); V];
        }
        add_group::<D, F, R, V>(tile, group * tile.form.group, from.add(4 * tile.column), &mut sums);
        from = from.add(tile.form.group / 8 * const { F::WIDTH.bytes() } * width);
        for vector in 0..V {
            let scale = F::load(isa, scales.add(size * vector * D::LANES));
            for row in 0..R {
                totals[row][vector] = sums[row][vector].to_float().mul_add(scale, totals[row][vector]);
            }
        }
    }
    store::<D, F, R, V>(tile, &totals);
}

/// The hot loop: eight K elements per step. The GEMV keeps separate accumulators for the first and the last four elements, to hide
/// the latency of the dot product.
#[inline(always)]
unsafe fn add_group<D: GemmDot, F: Form, const R: usize, const V: usize>(
    tile: &Tile,
    start: usize,
    mut from: *const u8,
    sums: &mut [[Bytes<D>; V]; R],
) {
    let isa = D::Isa::assume();
    let mut others = [[isa.splat_i32(0); V]; R];
    for step in 0..tile.form.group / 8 {
        let mut weights = [F::weights::<D>(from, 4 * tile.width); V];
        for (vector, weights) in weights.iter_mut().enumerate() {
            *weights = F::weights::<D>(from.add(4 * vector * D::LANES), 4 * tile.width);
        }
        for row in 0..const { F::WIDTH.bytes() / 4 } {
            isa.prefetch_near(from.wrapping_add(AHEAD + 4 * row * tile.width), 4 * V * D::LANES);
        }
        from = from.wrapping_add(const { F::WIDTH.bytes() } * tile.width);
        let bytes = tile.input.wrapping_add(start + 8 * step);
        if const { D::PAIRS && R > 1 } {
            add_eight::<D, R, V>(&mut others, weights, |row| eight_bytes(bytes.add(row * tile.input_stride), 8));
            continue;
        }
        for row in 0..R {
            let bytes = bytes.add(row * tile.input_stride);
            let low = D::spread(word(bytes));
            for vector in 0..V {
                sums[row][vector] = D::add(sums[row][vector], weights[vector][0], low);
            }
            let high = D::spread(word(bytes.add(4)));
            for vector in 0..V {
                let sum = if const { R == 1 } { &mut others[row][vector] } else { &mut sums[row][vector] };
                *sum = D::add(*sum, weights[vector][1], high);
            }
        }
    }
    if const { D::PAIRS && R > 1 } {
        unpair::<D, R, V>(&mut others);
    }
    if const { D::PAIRS || R == 1 } {
        for (sum, other) in sums.as_flattened_mut().iter_mut().zip(others.as_flattened()) {
            *sum = *sum + *other;
        }
    }
}

/// The epilogue: applies qparams, second-level scales and bias, and stores the tile.
///
/// # Safety
///
/// The CPU has the ISA of `D`, and the contract of [`Tile`] holds with the form `F`.
#[inline(always)]
pub unsafe fn store<D: GemmDot, F: Form, const R: usize, const V: usize>(
    tile: &Tile,
    totals: &[[<D::Isa as Simd>::F32; V]; R],
) {
    let isa = D::Isa::assume();
    for row in 0..R {
        let RowScale { scale, zero_point } = *tile.row_scales.add(row);
        for vector in 0..V {
            let start = vector * D::LANES;
            let zero = isa.read(tile.panel.cast::<f32>().add(tile.column + start));
            let bias = match tile.form.is_biased {
                true => isa.read(tile.panel.cast::<f32>().add(tile.width + tile.column + start)),
                false => isa.splat(0.0),
            };
            let value = totals[row][vector] - zero * isa.splat(zero_point as f32);
            let value = F::scaled(isa, value * isa.splat(scale), tile.units(start)) + bias;
            let to = tile.output.wrapping_add(row * tile.stride + start);
            isa.write_part(to, tile.columns.saturating_sub(start).min(D::LANES), value);
        }
    }
}
