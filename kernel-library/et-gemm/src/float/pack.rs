//! The packed form of `f32` weights: panels of columns, each a row of bias and a row per element of the window.
//!
//! A panel is as wide as the tile of the instruction set; the last one of a group is as many vectors as it needs. Columns
//! beyond the last are zero. Elements are little-endian.

use et_core::{Error, Result};

use super::rows::FloatRow;
use crate::shape::Shape;

/// Where panels are.
pub struct Panels {
    /// Columns of a whole panel.
    pub width: usize,
    /// Elements of a vector.
    pub lanes: usize,
    /// Vectors of a whole panel.
    pub vectors: usize,
    /// Columns of a group.
    pub columns: usize,
    /// Panels of a group.
    pub per_group: usize,
    /// Rows of a panel, the bias included.
    pub rows: usize,
}

/// A panel.
#[derive(Clone, Copy)]
pub struct Panel {
    /// Its group.
    pub group: usize,
    /// Its first column in the group.
    pub column: usize,
    /// Columns that exist.
    pub columns: usize,
    /// Vectors.
    pub vectors: usize,
    /// Its first element in the packed weights.
    pub start: usize,
}

impl Panels {
    /// The panels of a shape.
    pub const fn new(shape: &Shape, row: &FloatRow) -> Self {
        let width = row.width();
        let per_group = shape.columns.div_ceil(width);
        Self {
            width,
            lanes: row.lanes,
            vectors: row.vectors,
            columns: shape.columns,
            per_group,
            rows: shape.depth() + 1,
        }
    }

    /// Elements of a group.
    const fn group_size(&self) -> usize {
        self.columns.next_multiple_of(self.lanes) * self.rows
    }

    /// Elements of all groups.
    pub const fn size(&self, groups: usize) -> usize {
        groups * self.group_size()
    }

    /// A panel, counted through all groups. Most are whole and of the only group, and found without a division.
    pub fn get(&self, index: usize) -> Panel {
        let group = if index < self.per_group { 0 } else { index / self.per_group };
        let column = (index - group * self.per_group) * self.width;
        let columns = (self.columns - column).min(self.width);
        let vectors = if columns == self.width { self.vectors } else { columns.div_ceil(self.lanes) };
        let before = if group == 0 { 0 } else { group * self.group_size() };
        Panel { group, column, columns, vectors, start: before + column * self.rows }
    }
}

/// Weights as they are stored before packing: elements at equal distances.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, T> {
    /// The elements.
    pub elements: &'a [T],
    /// Elements from a column (of all groups) to the next, from a tap to the next, from a channel to the next.
    pub strides: [usize; 3],
}

impl<'a, T: Copy> Weights<'a, T> {
    /// Those of a linear layer: `[columns, inner]`.
    pub const fn linear(elements: &'a [T], inner: usize) -> Self {
        Self { elements, strides: [inner, 0, 1] }
    }

    /// A matrix `[inner, columns]`, such as the right one of a product of activations that is packed at run time.
    pub const fn matrix(elements: &'a [T], columns: usize) -> Self {
        Self { elements, strides: [1, 0, columns] }
    }

    /// Those of a convolution: `[columns, channels, height, width]`.
    pub const fn convolution(elements: &'a [T], shape: &Shape) -> Self {
        let taps = shape.kernel[0] * shape.kernel[1];
        Self { elements, strides: [shape.channels * taps, 1, taps] }
    }

    /// Fails unless there is an element for each column, tap and channel of the shape.
    pub fn check(&self, shape: &Shape) -> Result<()> {
        let counts = [shape.all_columns(), shape.kernel[0] * shape.kernel[1], shape.channels];
        if counts.contains(&0) {
            return Ok(());
        }
        let last = counts
            .iter()
            .zip(self.strides)
            .try_fold(0usize, |last, (count, stride)| last.checked_add((count - 1).checked_mul(stride)?));
        if last.is_some_and(|last| last < self.elements.len()) { Ok(()) } else { Err(Error::InvalidArgument) }
    }

    /// The weight of a column (of all groups), a tap and a channel.
    #[inline]
    pub fn get(&self, column: usize, tap: usize, channel: usize) -> T {
        self.elements[column * self.strides[0] + tap * self.strides[1] + channel * self.strides[2]]
    }
}

/// Writes the packed form of checked weights.
pub fn pack(shape: &Shape, panels: &Panels, weights: &Weights<'_, f32>, bias: &[f32], packed: &mut [u8]) {
    for index in 0..shape.groups * panels.per_group {
        let panel = panels.get(index);
        let width = panel.vectors * panels.lanes;
        let first = panel.group * shape.columns + panel.column;
        let bytes = &mut packed[4 * panel.start..4 * (panel.start + width * panels.rows)];
        let (start, rows) = bytes.split_at_mut(4 * width);
        write_row(start, panel.columns, |column| bias.get(first + column).copied().unwrap_or(0.0));
        if weights.strides[0] == 1 {
            write_by_rows(shape, weights, [first, panel.columns], rows, 4 * width);
        } else {
            write_by_columns(shape, weights, [first, panel.columns], rows, 4 * width);
        }
    }
}

/// Writes a panel row by row, where columns lie side by side.
fn write_by_rows(shape: &Shape, weights: &Weights<'_, f32>, columns: [usize; 2], rows: &mut [u8], size: usize) {
    for (row, bytes) in rows.chunks_exact_mut(size).enumerate() {
        let (tap, channel) = (row / shape.channels, row % shape.channels);
        let start = columns[0] + tap * weights.strides[1] + channel * weights.strides[2];
        let elements = &weights.elements[start..start + columns[1]];
        write_row(bytes, columns[1], |column| elements[column]);
    }
}

/// Writes a panel column by column, as their elements lie closer to each other.
fn write_by_columns(shape: &Shape, weights: &Weights<'_, f32>, columns: [usize; 2], rows: &mut [u8], size: usize) {
    for lane in 0..size / 4 {
        let mut slots = rows.chunks_exact_mut(size).map(|row| &mut row[4 * lane..4 * lane + 4]);
        if lane >= columns[1] {
            slots.for_each(|slot| slot.fill(0));
            continue;
        }
        for tap in 0..shape.kernel[0] * shape.kernel[1] {
            for (channel, slot) in (0..shape.channels).zip(slots.by_ref()) {
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
