//! The packed form of byte weights: panels of columns.
//!
//! A panel is a row of bias (`i32` or `f32`), a row of scales (`f32`), a row of sums of weights (`i32`), and a row for each
//! four bytes of each run of the window. Runs are filled up to a multiple of four with zeros, and the last row to the depth
//! of the instruction set. All is little-endian.

use super::rows::ByteRow;
use crate::float::pack::Weights;
use crate::shape::{Runs, Shape};

/// Bytes of a column before its weights.
pub const HEADER: usize = 12;

/// What a column starts with.
#[derive(Clone, Copy, Debug)]
pub enum Bias<'a> {
    /// Zero.
    None,
    /// In units of the input's scale times the weights' scale.
    Steps(&'a [i32]),
    /// Real numbers, for inputs that are quantized at run time.
    Real(&'a [f32]),
}

impl Bias<'_> {
    /// The bytes of a column's bias.
    fn bytes(&self, column: usize) -> [u8; 4] {
        match self {
            Self::None => None,
            Self::Steps(values) => values.get(column).map(|value| value.to_le_bytes()),
            Self::Real(values) => values.get(column).map(|value| value.to_le_bytes()),
        }
        .unwrap_or_default()
    }

    /// Whether it has a value for each of `columns`.
    pub(crate) const fn fits(&self, columns: usize) -> bool {
        match self {
            Self::None => true,
            Self::Steps(values) => values.len() == columns,
            Self::Real(values) => values.len() == columns,
        }
    }
}

/// Where panels are.
#[derive(Clone, Copy)]
pub struct Panels {
    /// Columns of a whole panel.
    pub width: usize,
    /// Sums of a vector.
    pub lanes: usize,
    /// Vectors of a whole panel.
    pub vectors: usize,
    /// Columns of a group.
    pub columns: usize,
    /// Panels of a group.
    pub per_group: usize,
    /// Bytes of a column's weights.
    pub depth: usize,
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
    /// Its first byte in the packed weights.
    pub start: usize,
}

impl Panels {
    /// The panels of a shape.
    pub const fn new(shape: &Shape, row: &ByteRow) -> Self {
        let runs = shape.runs();
        let depth = (runs.count * runs.length.next_multiple_of(4)).next_multiple_of(row.depth);
        let per_group = shape.columns.div_ceil(row.width());
        Self { width: row.width(), lanes: row.lanes, vectors: row.vectors, columns: shape.columns, per_group, depth }
    }

    /// Bytes of a group.
    const fn group_size(&self) -> usize {
        self.columns.next_multiple_of(self.lanes) * (HEADER + self.depth)
    }

    /// Bytes of all groups.
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
        Panel { group, column, columns, vectors, start: before + column * (HEADER + self.depth) }
    }
}

/// What is packed.
pub struct Packing<'a> {
    /// The shape.
    pub shape: &'a Shape,
    /// Its panels.
    pub panels: &'a Panels,
    /// The row.
    pub row: &'a ByteRow,
    /// Checked weights.
    pub weights: &'a Weights<'a, i8>,
    /// A scale for each column.
    pub scales: &'a [f32],
    /// The bias.
    pub bias: Bias<'a>,
}

impl Packing<'_> {
    /// Writes the packed form.
    pub fn write(&self, packed: &mut [u8]) {
        let panels = self.panels;
        packed.fill(0);
        for index in 0..self.shape.groups * panels.per_group {
            let panel = panels.get(index);
            let width = panel.vectors * panels.lanes;
            let bytes = &mut packed[panel.start..panel.start + width * (HEADER + panels.depth)];
            let (header, weights) = bytes.split_at_mut(HEADER * width);
            for lane in 0..panel.columns {
                self.write_column(panel.group * self.shape.columns + panel.column + lane, lane, width, header, weights);
            }
        }
    }

    fn write_column(&self, column: usize, lane: usize, width: usize, header: &mut [u8], weights: &mut [u8]) {
        let Runs { count, length, pixels } = self.shape.runs();
        let mut sum = 0i32;
        for run in 0..count {
            for index in 0..length {
                let tap = run * pixels + index / self.shape.channels;
                let weight = self.weights.get(column, tap, index % self.shape.channels);
                sum = sum.wrapping_add(i32::from(weight));
                let depth = run * length.next_multiple_of(4) + index;
                weights[depth / 4 * 4 * width + 4 * lane + depth % 4] = (i32::from(weight) + self.row.offset) as u8;
            }
        }
        let scale = self.scales.get(column).copied().unwrap_or(0.0);
        let fields = [self.bias.bytes(column), scale.to_le_bytes(), sum.to_le_bytes()];
        for (field, value) in fields.into_iter().enumerate() {
            header[4 * (field * width + lane)..][..4].copy_from_slice(&value);
        }
    }
}
