//! Packed int8 weights: panels of columns.
//!
//! Panel header, a row each: bias (`i32` or `f32`), per-channel scales (`f32`), column sums (`i32`). A packed row per
//! four int8 of each K segment follows. Zeros pad each K segment to a multiple of four, and K to the depth of the
//! architecture. Values are little-endian.

use et_simd::Architecture;

use crate::float::pack::Weights;
use crate::panels::{Panels, packed};
use crate::shape::{Runs, Shape};

/// Header words per column.
pub const HEADER: usize = 3;

/// The packed int8 weights of an architecture, which all ISAs of the architecture read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Lanes and vectors of a panel.
    pub panel: [usize; 2],
    /// K alignment of packed columns in bytes (KR).
    pub depth: usize,
    /// The value that is added to the weights: 128 where dot products multiply u8 weights by i8 activations.
    pub offset: i32,
}

impl Layout {
    /// The layout of an architecture.
    pub const fn of(architecture: Architecture) -> Self {
        // AMX reads 64 bytes of K, and `vpdpbusd` multiplies unsigned weights.
        let (depth, offset) = if matches!(architecture, Architecture::X86_64) { (64, 128) } else { (4, 0) };
        Self { panel: packed(architecture), depth, offset }
    }
}

/// The bias of a GEMM, in the unit of the accumulators or of the output.
#[derive(Clone, Copy, Debug)]
pub enum Bias<'a> {
    /// No bias.
    None,
    /// int32 bias in units of input scale x weight scale.
    Steps(&'a [i32]),
    /// `f32` bias, for dynamically quantized inputs.
    Real(&'a [f32]),
}

impl Bias<'_> {
    /// The little-endian bias of a column.
    fn bytes(&self, column: usize) -> [u8; 4] {
        match self {
            Self::None => None,
            Self::Steps(values) => values.get(column).map(|value| value.to_le_bytes()),
            Self::Real(values) => values.get(column).map(|value| value.to_le_bytes()),
        }
        .unwrap_or_default()
    }

    /// Whether the bias is absent or has `columns` values.
    pub(crate) const fn fits(&self, columns: usize) -> bool {
        match self {
            Self::None => true,
            Self::Steps(values) => values.len() == columns,
            Self::Real(values) => values.len() == columns,
        }
    }
}

/// The packed panels of a shape.
pub const fn panels(shape: &Shape, layout: Layout) -> Panels {
    let runs = shape.runs();
    let depth = (runs.count * runs.length.next_multiple_of(4)).next_multiple_of(layout.depth);
    Panels::new(shape.columns, layout.panel, HEADER + depth / 4)
}

/// Arguments of weight packing.
pub struct Packing<'a> {
    /// The shape.
    pub shape: &'a Shape,
    /// The layout.
    pub layout: Layout,
    /// The weights, already validated.
    pub weights: &'a Weights<'a, i8>,
    /// Per-channel scales.
    pub scales: &'a [f32],
    /// The bias.
    pub bias: Bias<'a>,
}

impl Packing<'_> {
    /// Writes the packed weights.
    #[inline]
    pub fn write(&self, packed: &mut [u8]) {
        let panels = panels(self.shape, self.layout);
        packed.fill(0);
        for index in 0..self.shape.groups * panels.per_group {
            let panel = panels.get(index);
            let width = panel.step;
            let bytes = &mut packed[4 * panel.start..4 * (panel.start + width * panels.column_size)];
            let (header, weights) = bytes.split_at_mut(4 * HEADER * width);
            for lane in 0..panel.columns {
                self.write_column(panel.group * self.shape.columns + panel.column + lane, lane, width, header, weights);
            }
        }
    }

    #[inline]
    fn write_column(&self, column: usize, lane: usize, width: usize, header: &mut [u8], weights: &mut [u8]) {
        let Runs { count, length, pixels } = self.shape.runs();
        let mut sum = 0i32;
        for run in 0..count {
            for index in 0..length {
                let tap = run * pixels + index / self.shape.channels;
                let weight = self.weights.get(column, tap, index % self.shape.channels);
                sum = sum.wrapping_add(i32::from(weight));
                let depth = run * length.next_multiple_of(4) + index;
                weights[depth / 4 * 4 * width + 4 * lane + depth % 4] = (i32::from(weight) + self.layout.offset) as u8;
            }
        }
        let scale = self.scales.get(column).copied().unwrap_or(0.0);
        let fields = [self.bias.bytes(column), scale.to_le_bytes(), sum.to_le_bytes()];
        for (field, value) in fields.into_iter().enumerate() {
            header[4 * (field * width + lane)..][..4].copy_from_slice(&value);
        }
    }
}
