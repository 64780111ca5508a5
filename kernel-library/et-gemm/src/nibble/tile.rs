//! The tile of a product with half bytes: whole sums of a group in registers, then real sums over groups.
#![allow(unsafe_code, reason = "rows, panels and outputs are read and written by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is the inner loop of a tile under the contract of `Tile`")]
#![allow(clippy::needless_range_loop, reason = "an index counts through several arrays and memory at once")]

use super::pack::NibbleForm;
use super::scale::ScaleForm;
use crate::byte::dot::{Dots, word};
use crate::byte::finish::RowScale;
use crate::lanes::Lanes;

/// How far ahead a single row asks for weights, which it waits for and nothing else.
const AHEAD: usize = 3 << 10;

/// What one tile computes.
///
/// # Safety
///
/// `input` has `R` rows of `groups` groups of bytes; `row_sums` a sum for each group of each row; `row_scales` one for each
/// row; `panel` is as [`super::pack`] writes it; `output` takes `R` rows of `columns` elements.
pub struct Tile {
    /// The rows.
    pub input: *const i8,
    /// Bytes from a row to the next.
    pub input_stride: usize,
    /// Minus eight times the sum of each group of each row.
    pub row_sums: *const i32,
    /// How rows were quantized.
    pub row_scales: *const RowScale,
    /// Groups of a row.
    pub groups: usize,
    /// How the panel is packed; groups have a multiple of eight elements.
    pub form: NibbleForm,
    /// The panel.
    pub panel: *const u8,
    /// Columns of the panel.
    pub width: usize,
    /// The first column of the tile in it.
    pub column: usize,
    /// The output.
    pub output: *mut f32,
    /// Elements from a row of the output to the next.
    pub stride: usize,
    /// Columns that are stored.
    pub columns: usize,
}

impl Tile {
    /// Where the first group of the panel begins.
    pub const fn first_group(&self) -> *const u8 {
        self.panel.wrapping_add(self.form.header() * self.width)
    }

    /// The sizes of steps from a column of the tile on, where there are such.
    const fn units(&self, column: usize) -> *const f32 {
        self.first_group().cast::<f32>().wrapping_sub(self.width).wrapping_add(self.column + column)
    }
}

/// A tile of `R` rows and `V` vectors of an instruction set.
pub type TileKernel = unsafe fn(&Tile);

/// Computes a tile but for the activation.
///
/// # Safety
///
/// The processor has the instructions of `D`; what `Tile` asks for, in the form `F`.
#[inline(always)]
pub unsafe fn compute<D: Dots, F: ScaleForm, const R: usize, const V: usize>(tile: &Tile) {
    let (width, size) = (tile.width, const { F::SCALES.size() });
    let mut totals = [[D::Real::splat(0.0); V]; R];
    let mut from = tile.first_group();
    let mut scales = from;
    for group in 0..tile.groups {
        scales = scales.wrapping_add(width);
        if group % const { F::SCALES.span() } == 0 {
            scales = from.add(size * tile.column);
            from = from.add(2 * width);
        }
        let mut sums = [[D::zero(); V]; R];
        for (row, sums) in sums.iter_mut().enumerate() {
            *sums = [D::splat(*tile.row_sums.add(row * tile.groups + group)); V];
        }
        add_group::<D, R, V>(tile, group * tile.form.group, from.add(4 * tile.column), &mut sums);
        from = from.add(tile.form.group / 2 * width);
        for vector in 0..V {
            let scale = F::load::<D::Real>(scales.add(size * vector * D::LANES));
            for row in 0..R {
                totals[row][vector] = sums[row][vector].real().multiply_add(scale, totals[row][vector]);
            }
        }
    }
    store::<D, F, R, V>(tile, &totals);
}

/// The loop in which all the time goes: eight elements of each row a step. The halves of a byte have sums of their own, so
/// that additions wait less for each other.
#[inline(always)]
unsafe fn add_group<D: Dots, const R: usize, const V: usize>(
    tile: &Tile,
    start: usize,
    mut from: *const u8,
    sums: &mut [[D; V]; R],
) {
    let mut others = [[D::zero(); V]; R];
    for step in 0..tile.form.group / 8 {
        let mut weights = [D::nibbles(from); V];
        for (vector, weights) in weights.iter_mut().enumerate() {
            *weights = D::nibbles(from.add(4 * vector * D::LANES));
        }
        if R == 1 {
            D::prefetch(from.wrapping_add(AHEAD), 4 * V * D::LANES);
        }
        from = from.wrapping_add(4 * tile.width);
        for row in 0..R {
            let bytes = tile.input.add(row * tile.input_stride + start + 8 * step);
            let low = D::spread(word(bytes));
            for vector in 0..V {
                sums[row][vector] = sums[row][vector].add(weights[vector][0], low);
            }
            let high = D::spread(word(bytes.add(4)));
            for vector in 0..V {
                let sum = if R == 1 { &mut others[row][vector] } else { &mut sums[row][vector] };
                *sum = sum.add(weights[vector][1], high);
            }
        }
    }
    if R == 1 {
        for vector in 0..V {
            sums[0][vector] = sums[0][vector].plus(others[0][vector]);
        }
    }
}

/// Stores a tile.
///
/// # Safety
///
/// The processor has the instructions of `D`; what `Tile` asks for, in the form `F`.
#[inline(always)]
pub unsafe fn store<D: Dots, F: ScaleForm, const R: usize, const V: usize>(tile: &Tile, totals: &[[D::Real; V]; R]) {
    for row in 0..R {
        let RowScale { scale, zero_point } = *tile.row_scales.add(row);
        for vector in 0..V {
            let start = vector * D::LANES;
            let zero = D::Real::load(tile.panel.cast::<f32>().add(tile.column + start));
            let bias = match tile.form.is_biased {
                true => D::Real::load(tile.panel.cast::<f32>().add(tile.width + tile.column + start)),
                false => D::Real::splat(0.0),
            };
            let value = totals[row][vector].subtract(zero.multiply(D::Real::splat(zero_point as f32)));
            let value = F::scaled(value.multiply(D::Real::splat(scale)), tile.units(start)).add(bias);
            let to = tile.output.wrapping_add(row * tile.stride + start);
            value.store_part(to, tile.columns.saturating_sub(start).min(D::LANES));
        }
    }
}
