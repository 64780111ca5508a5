//! The micro-kernel of blockwise int4, int6 and int8 weights: int32 accumulators within a block, `f32` accumulators across blocks.
#![allow(unsafe_code, reason = "rows, panels and outputs are read and written by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is the inner loop of a tile under the contract of `Tile`")]
#![allow(clippy::needless_range_loop, reason = "an index counts through several arrays and memory at once")]

use et_simd::{Bytes, Dot, Float, GemmDot, Integer, Simd, word};

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
/// `input` has `R` int8 rows of `groups` blocks; `row_sums` has a sum per block of each row, and `block_scales` as many scales or null;
/// `row_scales` has qparams per row, unless there are block scales; `panel` has the layout of [`crate::block::pack`]; `output` has room for `R` rows of `columns` elements.
pub struct Tile {
    /// The int8 rows of A.
    pub input: *const i8,
    /// Row stride of A in bytes.
    pub input_stride: usize,
    /// The row sum of each block of each row.
    pub row_sums: *const i32,
    /// What times a row sum is the accumulator's first value: the correction for what packing added to the weights.
    pub correction: i32,
    /// Per-token qparams, unless there are block scales.
    pub row_scales: *const RowScale,
    /// The scale of each block of each row, whose zero point is 0; or null.
    pub block_scales: *const f32,
    /// Blocks per row.
    pub groups: usize,
    /// The packed format.
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
    /// The row sum of a block.
    ///
    /// # Safety
    ///
    /// The tile has the row and the block.
    #[inline(always)]
    pub unsafe fn row_sum(&self, row: usize, group: usize) -> i32 {
        *self.row_sums.add(row * self.groups + group)
    }

    /// The scale of a block of a row; `None` where a row has one.
    ///
    /// # Safety
    ///
    /// The tile has the row and the block.
    #[inline(always)]
    pub unsafe fn block_scale(&self, row: usize, group: usize) -> Option<f32> {
        (!self.block_scales.is_null()).then(|| *self.block_scales.add(row * self.groups + group))
    }

    /// The row sum of a block in units of the row's scale, or by itself where the block has one.
    ///
    /// # Safety
    ///
    /// The tile has the row and the block.
    #[inline(always)]
    pub unsafe fn real_sum(&self, row: usize, group: usize) -> f32 {
        self.row_sum(row, group) as f32 * self.block_scale(row, group).unwrap_or(1.0)
    }

    /// The first block of the panel.
    pub const fn first_group(&self) -> *const u8 {
        self.panel.wrapping_add(self.form.header() * self.width)
    }

    /// The second-level scales from a column of the tile on, if the format has second-level scales.
    const fn units(&self, column: usize) -> *const f32 {
        self.first_group().cast::<f32>().wrapping_sub(self.width).wrapping_add(self.column + column)
    }
}

/// A vector of `f32` of a dot product's ISA.
type Floats<D> = <<D as Dot>::Isa as Simd>::F32;

/// Computes a tile without the activation.
///
/// # Safety
///
/// The CPU has the ISA of `D`, and the contract of [`Tile`] holds with the form `F`.
#[inline(always)]
pub unsafe fn compute<D: GemmDot, F: Form, const R: usize, const V: usize>(tile: &Tile) {
    let (width, size, span) = (tile.width, const { F::SCALES.size() }, F::SCALES.span(tile.form.group));
    let isa = D::Isa::assume();
    let mut totals = [[isa.splat(0.0); V]; R];
    let mut from = tile.first_group();
    for start in (0..tile.groups).step_by(span) {
        let (set, end) = (from, tile.groups.min(start + span));
        from = from.add(tile.form.sets() * width);
        if const { F::SCALES.head() > 0 } {
            // The loop over elements prefetches as many bytes as it reads; the scales of a span are as many bytes more.
            for row in 0..tile.form.sets() / 4 {
                isa.prefetch_near(set.wrapping_add(AHEAD + 4 * (row * width + tile.column)), 4 * V * D::LANES);
            }
        }
        // Sums in units of a second-level scale of the span, or the totals.
        let mut parts = if const { F::SCALES.head() == 0 } { totals } else { [[isa.splat(0.0); V]; R] };
        let mut scales = scales_of::<F>(tile, set);
        for group in start..end {
            let mut sums = [[isa.splat_i32(0); V]; R];
            for (row, sums) in sums.iter_mut().enumerate() {
                *sums = [isa.splat_i32(tile.correction.wrapping_mul(tile.row_sum(row, group))); V];
            }
            add_group::<D, F, R, V>(tile, group * tile.form.group, from.add(4 * tile.column), &mut sums);
            from = from.add(tile.form.elements() * width);
            let sums = scaled::<D, R, V>(tile, group, &sums);
            for vector in 0..V {
                let scale = F::load(isa, scales.add(size * vector * D::LANES));
                for row in 0..R {
                    parts[row][vector] = sums[row][vector].mul_add(scale, parts[row][vector]);
                }
            }
            scales = scales.add(size * width);
        }
        add_span::<D, F, R, V>(tile, set, &parts, &mut totals);
        if tile.form.has_offsets {
            let set = set.add(tile.form.set() * width);
            let parts = offsets::<D, F, R, V>(tile, set, [start, end], &totals);
            add_span::<D, F, R, V>(tile, set, &parts, &mut totals);
        }
    }
    store::<D, F, R, V>(tile, &totals);
}

/// The sums of a block, times the scales of the block's activations.
#[inline(always)]
unsafe fn scaled<D: GemmDot, const R: usize, const V: usize>(
    tile: &Tile,
    group: usize,
    sums: &[[Bytes<D>; V]; R],
) -> [[Floats<D>; V]; R] {
    let mut floats = sums.map(|sums| sums.map(|sum| sum.to_float()));
    for (row, floats) in floats.iter_mut().enumerate() {
        if let Some(scale) = tile.block_scale(row, group) {
            let scale = D::Isa::assume().splat(scale);
            *floats = floats.map(|sum| sum * scale);
        }
    }
    floats
}

/// The first scales of a set, of the tile's columns.
#[inline(always)]
unsafe fn scales_of<F: Form>(tile: &Tile, set: *const u8) -> *const u8 {
    set.add(const { F::SCALES.head() } * tile.width + const { F::SCALES.size() } * tile.column)
}

/// Takes over the sums of a span, times the second-level scales where the span has some.
#[inline(always)]
unsafe fn add_span<D: GemmDot, F: Form, const R: usize, const V: usize>(
    tile: &Tile,
    set: *const u8,
    parts: &[[Floats<D>; V]; R],
    totals: &mut [[Floats<D>; V]; R],
) {
    let isa = D::Isa::assume();
    if const { F::SCALES.head() == 0 } {
        *totals = *parts;
        return;
    }
    for vector in 0..V {
        let unit = isa.read(set.cast::<f32>().add(tile.column + vector * D::LANES));
        for row in 0..R {
            totals[row][vector] = parts[row][vector].mul_add(unit, totals[row][vector]);
        }
    }
}

/// The sums of a span's offsets, each times the row sum of its block, in units of the second-level scale; or added to the totals.
#[inline(always)]
unsafe fn offsets<D: GemmDot, F: Form, const R: usize, const V: usize>(
    tile: &Tile,
    set: *const u8,
    [start, end]: [usize; 2],
    totals: &[[Floats<D>; V]; R],
) -> [[Floats<D>; V]; R] {
    let (isa, size) = (D::Isa::assume(), const { F::SCALES.size() });
    let mut parts = if const { F::SCALES.head() == 0 } { *totals } else { [[isa.splat(0.0); V]; R] };
    let mut offsets = scales_of::<F>(tile, set);
    for group in start..end {
        for vector in 0..V {
            let offset = F::load(isa, offsets.add(size * vector * D::LANES));
            for row in 0..R {
                let sum = isa.splat(tile.real_sum(row, group));
                parts[row][vector] = sum.mul_add(offset, parts[row][vector]);
            }
        }
        offsets = offsets.add(size * tile.width);
    }
    parts
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
    for step in 0..tile.form.group / const { F::WIDTH.step() } {
        for row in 0..const { F::WIDTH.bytes() / 4 } {
            isa.prefetch_near(from.wrapping_add(AHEAD + 4 * row * tile.width), 4 * V * D::LANES);
        }
        for eight in 0..const { F::WIDTH.step() / 8 } {
            let mut weights = [F::weights::<D>(from, 4 * tile.width, eight); V];
            for (vector, weights) in weights.iter_mut().enumerate() {
                *weights = F::weights::<D>(from.add(4 * vector * D::LANES), 4 * tile.width, eight);
            }
            let bytes = tile.input.wrapping_add(start + step * const { F::WIDTH.step() } + 8 * eight);
            add_products::<D, R, V>(tile, bytes, weights, [&mut *sums, &mut others]);
        }
        from = from.wrapping_add(const { F::WIDTH.bytes() } * tile.width);
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

/// Adds the products of eight K elements.
#[inline(always)]
unsafe fn add_products<D: GemmDot, const R: usize, const V: usize>(
    tile: &Tile,
    bytes: *const i8,
    weights: [[D::Weights; 2]; V],
    [sums, others]: [&mut [[Bytes<D>; V]; R]; 2],
) {
    if const { D::PAIRS && R > 1 } {
        add_eight::<D, R, V>(others, weights, |row| eight_bytes(bytes.add(row * tile.input_stride), 8));
        return;
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

/// The epilogue: applies qparams, second-level scales and bias, and stores the tile.
///
/// # Safety
///
/// The CPU has the ISA of `D`, and the contract of [`Tile`] holds with the form `F`.
#[inline(always)]
pub unsafe fn store<D: GemmDot, F: Form, const R: usize, const V: usize>(tile: &Tile, totals: &[[Floats<D>; V]; R]) {
    let isa = D::Isa::assume();
    for row in 0..R {
        let qparams = match tile.block_scales.is_null() {
            true => *tile.row_scales.add(row),
            false => RowScale { scale: 1.0, zero_point: 0 },
        };
        let RowScale { scale, zero_point } = qparams;
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
