//! int8 GEMM and convolution with packed weights: sizes, packing, and computing a block of tiles.
#![allow(unsafe_code, reason = "outputs are passed on by pointer after their bounds are checked, once a call")]

use core::ops::Range;

use et_core::{Error, Result};
use et_simd::{Activation, Isa};

use super::finish::{Added, Quantization, RowScale, Store};
use super::pack::{Bias, HEADER, Layout, Packing, panels};
use super::strip::{Memory, Strip};
use crate::float::pack::Weights;
use crate::kernels::{Int8Kernels, KernelRow, Kernels};
use crate::output::{Output, Residual};
use crate::panels::Panels;
use crate::scratch::{self, Scratch};
use crate::shape::{Block, Grid, Runs, Shape};

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

/// A residual tensor in the layout of the output.
#[derive(Clone, Copy, Debug)]
pub enum Int8Residual<'a> {
    /// int8 residual with scale (relative to the unit of the weight scales) and zero point.
    Bytes(Residual<'a, i8>, f32, i8),
    /// `f32` residual.
    Floats(Residual<'a, f32>),
}

impl Int8Residual<'_> {
    /// Fails unless the residual has the elements of a rectangle.
    fn check(&self, rows: &Range<usize>, columns: &Range<usize>) -> Result<()> {
        match self {
            Self::Bytes(residual, ..) => residual.check(rows, columns),
            Self::Floats(residual) => residual.check(rows, columns),
        }
    }

    /// The residual from an element on, row stride in elements, and whether the residual is added after the activation.
    pub(crate) fn parts(&self, row: usize, column: usize) -> (Added, usize, bool) {
        match *self {
            Self::Bytes(residual, scale, zero) => {
                (Added::Bytes(residual.at(row, column), scale, f32::from(zero)), residual.stride, residual.after)
            }
            Self::Floats(residual) => (Added::Floats(residual.at(row, column)), residual.stride, residual.after),
        }
    }
}

/// Operands of an execution, shared by every block.
#[derive(Clone, Copy, Debug)]
pub struct Int8Operands<'a> {
    /// Pixels of the NHWC input: rows of A.
    pub input: &'a [i8],
    /// The zero point of the input, also the padding value.
    pub zero_point: i8,
    /// Per-token qparams of a dynamically quantized input; empty for a static input. Requires a pointwise shape and an
    /// `f32` bias.
    pub row_scales: &'a [RowScale],
    /// Weights packed by [`Int8Gemm::pack`]; 64-byte alignment is fastest.
    pub weights: &'a [u8],
    /// The activation, applied in `f32` before requantization.
    pub activation: Activation,
    /// The residual.
    pub residual: Option<Int8Residual<'a>>,
}

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
    strip: usize,
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
    /// divided by the output scale if [`Quantization::inverse_scale`] is 1; the weight scale alone for per-token
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
    fn gathered(&self, rows: usize) -> usize {
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

    /// Computes a block with int8 output. Fails if an operand, the output or the scratch is too short, or if this CPU
    /// lacks the ISA.
    pub fn compute(
        &self,
        operands: &Int8Operands<'_>,
        quantization: Quantization,
        output: &mut Output<'_, i8>,
        block: Block,
        scratch: &mut [u8],
    ) -> Result<()> {
        self.check(operands, block, output)?;
        let store = Store::Bytes(output.at(0, 0), quantization);
        // SAFETY: `check` validated operands and output for the block.
        unsafe { self.run(operands, (store, output.stride()), block, scratch) }
    }

    /// Computes a block with `f32` output. Fails as [`Self::compute`].
    pub fn compute_floats(
        &self,
        operands: &Int8Operands<'_>,
        output: &mut Output<'_, f32>,
        block: Block,
        scratch: &mut [u8],
    ) -> Result<()> {
        self.check(operands, block, output)?;
        let store = Store::Floats(output.at(0, 0));
        // SAFETY: `check` validated operands and output for the block.
        unsafe { self.run(operands, (store, output.stride()), block, scratch) }
    }

    /// Computes a validated block.
    ///
    /// # Safety
    ///
    /// [`Self::check`] accepted operands, output and block.
    unsafe fn run(
        &self,
        operands: &Int8Operands<'_>,
        store: (Store, usize),
        block: Block,
        scratch: &mut [u8],
    ) -> Result<()> {
        let kernels = self.row.available()?;
        let mut scratch = Scratch::new(scratch)?;
        let rows = self.strip * self.height;
        let padding = scratch.take::<i8>(self.runs.length)?;
        padding.fill(operands.zero_point);
        let sums = self.height * self.together * self.panels.width;
        let columns = self.grid().panels * self.panels.width;
        let memory = Memory {
            padding: padding.as_ptr(),
            table: scratch.take::<*const i8>(rows * self.runs.count)?.as_mut_ptr(),
            copies: scratch.take::<i8>(self.shape.copied(rows))?.as_mut_ptr(),
            addends: scratch.take::<i32>(rows)?,
            sums: scratch.take::<i32>(sums)?.as_mut_ptr(),
            factors: scratch.take::<i32>(columns)?.as_mut_ptr(),
            scales: scratch.take::<f32>(columns)?.as_mut_ptr(),
            bias: scratch.take::<f32>(columns)?.as_mut_ptr(),
            gathered: scratch.take::<i8>(self.gathered(rows))?,
        };
        let mut strip = Strip::new(self, operands, store, kernels, memory);
        // SAFETY: `is_available` checked that the CPU has AMX and that the operating system permits AMX.
        #[cfg(target_arch = "x86_64")]
        let _tiles = self.is_matrix().then(|| unsafe { crate::amx::Tiles::configure(crate::amx::DEPTH) });
        let mut first = block.tiles[0];
        while first < block.tiles[1] {
            let last = block.tiles[1].min(first + self.strip);
            // SAFETY: the caller upholds the contract of this function, and `is_available` checked the ISA.
            unsafe { strip.compute([first, last], block.panels)? };
            first = last;
        }
        Ok(())
    }

    fn check<T: Copy>(&self, operands: &Int8Operands<'_>, block: Block, output: &Output<'_, T>) -> Result<()> {
        let grid = self.grid();
        let scaled = operands.row_scales.is_empty() || operands.row_scales.len() == self.shape.rows();
        let whole = operands.input.len() >= self.shape.input_length()? && operands.weights.len() == self.packed_size();
        if !scaled || !whole || !block.is_in(&grid) {
            return Err(Error::InvalidArgument);
        }
        if block.is_empty() {
            return Ok(());
        }
        let (rows, columns) = (grid.rows_of_all(block.tiles), self.columns_of(block.panels));
        operands.residual.map_or(Ok(()), |residual| residual.check(&rows, &columns))?;
        output.check(&rows, &columns)
    }

    /// The output columns that a range of panels covers, for splitting an output.
    pub fn columns_of(&self, panels: [usize; 2]) -> Range<usize> {
        self.panels.columns_of(panels)
    }
}
