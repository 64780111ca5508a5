//! int8 GEMM and convolution with packed weights: sizes and packing.

use et_core::{Error, Result};
use et_simd::Isa;

use super::pack::{Bias, HEADER, Layout, Packing, panels};
use crate::float::pack::Weights;
use crate::kernels::{Int8Kernels, KernelRow, Kernels};
use crate::panels::Panels;
use crate::scratch;
use crate::shape::{Grid, Runs, Shape};

/// L2 budget for the A rows of a strip (M block), next to two weight panels.
const STRIP_BYTES: usize = 1 << 20;

/// Packed weights up to this size stay in L2. Each tile then runs over every panel, so that the epilogue writes the
/// tile's output rows while the rows are in L1.
const RESIDENT_BYTES: usize = 3 << 18;

/// K segments shorter than this, and not a multiple of four bytes, are copied to contiguous rows.
const SHORT_RUN: usize = 32;

/// Size in bytes of the widest register that LHS packing stores.
const REGISTER: usize = 64;

/// From this M on, macro-tiles have [`TILE_ROWS`] rows, so that row sums and epilogue setup are amortized over several
/// micro-kernel calls.
const MANY_ROWS: usize = 784;
const TILE_ROWS: usize = 28;

/// The maximum number of panels whose accumulators are buffered before the epilogue: a part of L1.
const PANELS: usize = 4;

/// An int8 GEMM or convolution of a fixed shape with the kernels of a fixed ISA.
#[derive(Clone, Copy)]
pub struct Int8Gemm {
    pub(crate) shape: Shape,
    pub(crate) row: &'static Kernels<Int8Kernels>,
    pub(crate) layout: Layout,
    pub(crate) panels: Panels,
    pub(crate) runs: Runs,
    /// The maximum number of rows per tile.
    pub(crate) height: usize,
    /// Tiles that share a panel before the next panel (M block).
    pub(crate) strip: usize,
    /// Panels per epilogue: several if every tile reuses the panels from L2.
    pub(crate) together: usize,
}

impl Int8Gemm {
    /// Fails if the shape is inconsistent or the input is NCHW. Packing works on every host, and the packed weights are
    /// equal for every ISA of an architecture.
    pub fn new(shape: Shape, isa: Isa) -> Result<Self> {
        shape.check()?;
        if shape.planes != 1 {
            return Err(Error::NotSupported);
        }
        let (row, layout) = (&KernelRow::of(isa).int8, Layout::of(isa.architecture()));
        let panels = panels(&shape, layout).read_by(row.panel());
        let is_small = row.isa == Isa::Amx || shape.rows() < MANY_ROWS;
        let height = if is_small { row.small } else { TILE_ROWS / row.height * row.height };
        let product = Self { panels, runs: shape.runs(), shape, row, layout, height, strip: 1, together: 1 };
        let product = Self { strip: product.strip_of(), ..product };
        Ok(Self { together: product.together_of(), ..product })
    }

    /// Size of the packed weights in bytes.
    pub const fn packed_size(&self) -> usize {
        4 * self.panels.size(self.shape.groups)
    }

    /// Packs weights, per-channel scales and bias. A scale converts accumulators to `f32`: input scale x weight scale,
    /// divided by the output scale if [`crate::Quantization::inverse_scale`] is 1; the weight scale alone for per-token
    /// inputs. Fails if a length differs from the shape.
    #[inline]
    pub fn pack(&self, weights: &Weights<'_, i8>, scales: &[f32], bias: Bias<'_>, packed: &mut [u8]) -> Result<()> {
        weights.check(&self.shape)?;
        let columns = self.shape.all_columns();
        if scales.len() != columns || !bias.fits(columns) || packed.len() != self.packed_size() {
            return Err(Error::InvalidArgument);
        }
        Packing { shape: &self.shape, layout: self.layout, weights, scales, bias }.write(packed);
        Ok(())
    }

    /// Dequantizes a column of a packed GEMM weight: a row of the embedding table whose transpose is packed (tied
    /// weights). The packed scale must be the weight scale alone. Fails if the column does not exist or `elements` has
    /// a length other than K.
    #[inline]
    pub fn column(&self, packed: &[u8], column: usize, elements: &mut [f32]) -> Result<()> {
        let is_there = column < self.shape.all_columns() && elements.len() == self.shape.depth();
        if !is_there || packed.len() != self.packed_size() || self.runs.count != 1 || self.shape.groups != 1 {
            return Err(Error::InvalidArgument);
        }
        let panel = self.panels.get(column / self.panels.width);
        let (width, lane) = (panel.step, column - panel.column);
        let bytes = &packed[4 * panel.start..4 * (panel.start + width * self.panels.column_size)];
        let (header, rows) = bytes.split_at(4 * HEADER * width);
        let scale = header[4 * (width + lane)..].first_chunk::<4>().map_or(0.0, |bytes| f32::from_le_bytes(*bytes));
        for (row, four) in rows.chunks_exact(4 * width).zip(elements.chunks_mut(4)) {
            for (element, &byte) in four.iter_mut().zip(&row[4 * lane..]) {
                let weight = match self.layout.offset {
                    0 => i32::from(byte.cast_signed()),
                    offset => i32::from(byte) - offset,
                };
                *element = scale * weight as f32;
            }
        }
        Ok(())
    }

    /// The grid of tiles and panels.
    pub const fn grid(&self) -> Grid {
        Grid::new(self.shape.rows(), self.height, self.shape.groups * self.panels.per_group)
    }

    /// Packed weight bytes per column, without the header.
    pub(crate) const fn depth(&self) -> usize {
        4 * (self.panels.column_size - HEADER)
    }

    /// Scratch bytes per call.
    pub fn scratch_size(&self) -> usize {
        let rows = self.strip * self.height;
        scratch::total(&[
            scratch::part(self.runs.length, 1),
            scratch::part(rows * self.runs.count, size_of::<*const i8>()),
            scratch::part(self.shape.copied(rows), 1),
            scratch::part(rows, 4),
            scratch::part(self.height * self.together * self.panels.width, 4),
            scratch::part(self.grid().panels * self.panels.width, 4),
            scratch::part(self.grid().panels * self.panels.width, 4),
            scratch::part(self.grid().panels * self.panels.width, 4),
            scratch::part(self.gathered(rows), 1),
        ])
    }

    fn strip_of(&self) -> usize {
        match self.packed_size() {
            ..=RESIDENT_BYTES => 1,
            _ => self.runs.strip(STRIP_BYTES, self.height * (self.depth() + 1)),
        }
    }

    fn together_of(&self) -> usize {
        if self.strip > 1 || self.is_matrix() { 1 } else { self.panels.per_group.min(PANELS) }
    }

    /// Bytes for packed rows of A, with room for a full register store behind the last row.
    pub(crate) fn gathered(&self, rows: usize) -> usize {
        if self.is_matrix() || self.joins_runs() { (rows + self.height) * self.depth() + REGISTER } else { 0 }
    }

    /// Whether the micro-kernel is AMX's.
    pub(crate) fn is_matrix(&self) -> bool {
        self.row.isa == Isa::Amx
    }

    /// Whether LHS packing also runs without AMX: packing short K segments that end within a word is faster than
    /// partial loads in the micro-kernel. Limited to layouts with weight offset, whose row sums read A before the
    /// micro-kernel anyway.
    pub(crate) const fn joins_runs(&self) -> bool {
        self.layout.offset != 0
            && self.runs.count > 1
            && self.runs.length < SHORT_RUN
            && !self.runs.length.is_multiple_of(4)
    }

    /// Bytes of a packed row of A.
    pub(crate) const fn joined(&self) -> usize {
        self.runs.count * self.runs.length.next_multiple_of(4)
    }
}
