//! Packed `f32` weights: panels of NR columns, each with a bias row and a row per element of K.
//!
//! The last panel of a group has only the vectors that the remaining columns need; padding columns are zero. Elements
//! are little-endian.

use et_core::{Error, Result};
use et_simd::Architecture;

use crate::panels::{Panels, packed};
use crate::shape::Shape;

/// The packed panels of a shape; sizes are in elements.
pub const fn panels(shape: &Shape, architecture: Architecture) -> Panels {
    Panels::new(shape.columns, packed(architecture), shape.depth() + 1)
}

/// Strided weights before packing.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, T> {
    /// The elements.
    pub elements: &'a [T],
    /// Strides in elements: column (over every group), kernel position, channel.
    pub strides: [usize; 3],
}

impl<'a, T: Copy> Weights<'a, T> {
    /// Weights of a linear layer: `[columns, inner]`.
    pub const fn linear(elements: &'a [T], inner: usize) -> Self {
        Self { elements, strides: [inner, 0, 1] }
    }

    /// A matrix `[inner, columns]`, such as the right-hand matrix of an attention GEMM, packed at run time.
    pub const fn matrix(elements: &'a [T], columns: usize) -> Self {
        Self { elements, strides: [1, 0, columns] }
    }

    /// Weights of a convolution: `[columns, channels, height, width]`.
    pub const fn convolution(elements: &'a [T], shape: &Shape) -> Self {
        let taps = shape.kernel[0] * shape.kernel[1];
        Self { elements, strides: [shape.planes * shape.channels * taps, 1, taps] }
    }

    /// Fails unless the strides address an element for each column, kernel position and channel of the shape.
    pub fn check(&self, shape: &Shape) -> Result<()> {
        let counts = [shape.all_columns(), shape.kernel[0] * shape.kernel[1], shape.planes * shape.channels];
        if counts.contains(&0) {
            return Ok(());
        }
        let last = counts
            .iter()
            .zip(self.strides)
            .try_fold(0usize, |last, (count, stride)| last.checked_add((count - 1).checked_mul(stride)?));
        if last.is_some_and(|last| last < self.elements.len()) { Ok(()) } else { Err(Error::InvalidArgument) }
    }

    /// The weight of a column (over every group), a kernel position and a channel.
    #[inline]
    pub fn get(&self, column: usize, tap: usize, channel: usize) -> T {
        self.elements[column * self.strides[0] + tap * self.strides[1] + channel * self.strides[2]]
    }
}

/// Writes the packed form of validated weights.
#[inline]
pub fn pack(shape: &Shape, panels: &Panels, weights: &Weights<'_, f32>, bias: &[f32], packed: &mut [u8]) {
    for index in 0..shape.groups * panels.per_group {
        let panel = panels.get(index);
        let width = panel.step;
        let first = panel.group * shape.columns + panel.column;
        let bytes = &mut packed[4 * panel.start..4 * (panel.start + width * panels.column_size)];
        let (start, rows) = bytes.split_at_mut(4 * width);
        write_row(start, panel.columns, |column| bias.get(first + column).copied().unwrap_or(0.0));
        if weights.strides[0] == 1 {
            write_by_rows(shape, weights, [first, panel.columns], rows, 4 * width);
        } else {
            write_by_columns(shape, weights, [first, panel.columns], rows, 4 * width);
        }
    }
}

/// Copies a column of the packed weight `[columns, inner]` of a linear layer: a row of the embedding table that is tied to the layer.
/// `architecture` is that of the packing. Fails if the column does not exist or a length differs from the sizes.
#[inline]
pub fn float_column(
    [inner, columns]: [usize; 2],
    architecture: Architecture,
    packed: &[u8],
    column: usize,
    elements: &mut [f32],
) -> Result<()> {
    let panels = panels(&Shape::product(1, inner, columns), architecture);
    if column >= columns || elements.len() != inner || packed.len() != 4 * panels.size(1) {
        return Err(Error::InvalidArgument);
    }
    let panel = panels.get(column / panels.width);
    let (size, lane) = (4 * panel.step, 4 * (column - panel.column));
    // The first row is the bias.
    let rows = packed[4 * panel.start..][..size * panels.column_size].chunks_exact(size).skip(1);
    for (element, row) in elements.iter_mut().zip(rows) {
        *element = row[lane..].first_chunk::<4>().map_or(0.0, |bytes| f32::from_le_bytes(*bytes));
    }
    Ok(())
}

/// Packs a panel row by row, for weights with contiguous columns.
#[inline]
fn write_by_rows(shape: &Shape, weights: &Weights<'_, f32>, columns: [usize; 2], rows: &mut [u8], size: usize) {
    let taps = shape.kernel[0] * shape.kernel[1];
    for (row, bytes) in rows.chunks_exact_mut(size).enumerate() {
        let (index, channel) = (row / shape.channels, row % shape.channels);
        let (plane, tap) = (index / taps, index % taps);
        let channel = plane * shape.channels + channel;
        let start = columns[0] + tap * weights.strides[1] + channel * weights.strides[2];
        let elements = &weights.elements[start..start + columns[1]];
        write_row(bytes, columns[1], |column| elements[column]);
    }
}

/// Packs a panel column by column, for weights with contiguous K.
#[inline]
fn write_by_columns(shape: &Shape, weights: &Weights<'_, f32>, columns: [usize; 2], rows: &mut [u8], size: usize) {
    for lane in 0..size / 4 {
        let mut slots = rows.chunks_exact_mut(size).map(|row| &mut row[4 * lane..4 * lane + 4]);
        if lane >= columns[1] {
            slots.for_each(|slot| slot.fill(0));
            continue;
        }
        let taps = shape.kernel[0] * shape.kernel[1];
        for (plane, tap) in (0..shape.planes * taps).map(|index| (index / taps, index % taps)) {
            let first = plane * shape.channels;
            for (channel, slot) in (first..first + shape.channels).zip(slots.by_ref()) {
                slot.copy_from_slice(&weights.get(columns[0] + lane, tap, channel).to_le_bytes());
            }
        }
    }
}

fn write_row(bytes: &mut [u8], columns: usize, value: impl Fn(usize) -> f32) {
    for (column, bytes) in bytes.chunks_exact_mut(4).enumerate() {
        let value = if column < columns { value(column) } else { 0.0 };
        bytes.copy_from_slice(&value.to_le_bytes());
    }
}
