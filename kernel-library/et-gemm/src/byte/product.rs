//! Products of bytes with packed weights: sizes, packing, and computing any part of the work.
#![allow(unsafe_code, reason = "outputs are passed on by pointer after their bounds are checked, once a call")]

use et_core::{Error, Result};

use super::finish::{Added, Quantization, RowScale, Store};
use super::pack::{Bias, HEADER, Packing, panels};
use super::rows::{ByteKernels, ByteRow};
use super::strip::{Memory, Strip};
use crate::activation::Activation;
use crate::float::pack::Weights;
use crate::float::product::Residual;
use crate::isa::Isa;
use crate::output::Output;
use crate::panels::Panels;
use crate::scratch::{self, Scratch};
use crate::shape::{Block, Grid, Runs, Shape};

/// Bytes of windows that a strip of tiles reads before the next panel: what a second-level cache holds beside two panels.
const STRIP_BYTES: usize = 1 << 20;

/// Packed weights of at most so many bytes stay in the second-level cache: each tile goes through all of them, so that its
/// rows of the output are written while they are in the first-level cache.
const RESIDENT_BYTES: usize = 3 << 18;

/// Runs of fewer bytes, and not of whole words, are copied side by side.
const SHORT_RUN: usize = 32;

/// Bytes of the largest register that a copy writes.
const REGISTER: usize = 64;

/// So many rows are enough for tiles of [`TILE_ROWS`], which several calls of a kernel compute: what they share is done once.
const MANY_ROWS: usize = 784;
const TILE_ROWS: usize = 28;

/// The most tiles of a strip.
const STRIP_TILES: usize = 16;

/// The most panels whose sums wait for each other: a part of a first-level cache.
const PANELS: usize = 4;

/// A tensor with the layout of the output that is added to it.
#[derive(Clone, Copy, Debug)]
pub enum ByteResidual<'a> {
    /// Bytes with their scale (in the unit of the weights' scales) and zero point.
    Bytes(Residual<'a, i8>, f32, i8),
    /// Real numbers.
    Floats(Residual<'a, f32>),
}

impl ByteResidual<'_> {
    /// Elements from a row to the next, and how many there are.
    const fn extent(&self) -> [usize; 2] {
        match self {
            Self::Bytes(residual, ..) => [residual.stride, residual.elements.len()],
            Self::Floats(residual) => [residual.stride, residual.elements.len()],
        }
    }

    /// Where it is, elements from a row to the next, and whether it comes last.
    pub(crate) fn parts(&self) -> (Added, usize, bool) {
        match *self {
            Self::Bytes(residual, scale, zero) => {
                (Added::Bytes(residual.elements.as_ptr(), scale, f32::from(zero)), residual.stride, residual.after)
            }
            Self::Floats(residual) => (Added::Floats(residual.elements.as_ptr()), residual.stride, residual.after),
        }
    }
}

/// The operands of one execution, the same for all blocks.
#[derive(Clone, Copy, Debug)]
pub struct ByteOperands<'a> {
    /// Pixels of the input: rows of the left matrix.
    pub input: &'a [i8],
    /// The byte of zero, which is also the padding.
    pub zero_point: i8,
    /// A scale and a zero point for each row, for inputs that are quantized at run time; empty for others. It needs a
    /// shape that reads one pixel a row, and a real bias.
    pub row_scales: &'a [RowScale],
    /// What [`ByteProduct::pack`] wrote; best on a 64-byte boundary.
    pub weights: &'a [u8],
    /// What is applied to every real number.
    pub activation: Activation,
    /// What is added to every element.
    pub residual: Option<ByteResidual<'a>>,
}

/// A product of bytes of one shape by the kernels of one instruction set.
#[derive(Clone, Copy)]
pub struct ByteProduct {
    pub(crate) shape: Shape,
    pub(crate) row: &'static ByteRow,
    pub(crate) panels: Panels,
    pub(crate) runs: Runs,
    /// Whether matrix instructions compute it: where the processor has them and the kernel permits them.
    pub(crate) matrix: bool,
    /// The most rows of a tile.
    pub(crate) height: usize,
    /// Tiles that go through a panel before the next panel.
    strip: usize,
    /// Panels that a tile goes through before its sums become elements of the output: several where the next tile has the same.
    pub(crate) together: usize,
}

impl ByteProduct {
    /// Fails if the shape contradicts itself or has planes. Any instruction set may be packed for on any machine.
    pub fn new(shape: Shape, isa: Isa) -> Result<Self> {
        shape.check()?;
        if shape.planes != 1 {
            return Err(Error::NotSupported);
        }
        let (row, runs) = (ByteRow::of(isa), shape.runs());
        let panels = panels(&shape, row);
        let product = Self { panels, runs, shape, row, matrix: false, height: 0, strip: 0, together: 0 };
        Ok(product.by(isa == Isa::Amx && isa.is_available()))
    }

    /// The same product of the same packed weights without matrix instructions, as where the kernel refuses them.
    pub const fn without_matrices(self) -> Self {
        self.by(false)
    }

    /// The same with matrix instructions or without.
    const fn by(self, matrix: bool) -> Self {
        let height = self.height_of(matrix);
        let strip = self.strip_of(height);
        Self { matrix, height, strip, together: self.together_of(strip, matrix), ..self }
    }

    /// Bytes of the packed weights.
    pub const fn packed_size(&self) -> usize {
        self.panels.size(self.shape.groups)
    }

    /// Packs weights, a scale for each column, and a bias. The scale of a column makes real numbers of sums: that of the
    /// input times that of the weight, divided by that of the output where [`Quantization::inverse_scale`] is one; that of
    /// the weight alone where rows have scales. Fails unless lengths are those of the shape.
    #[inline]
    pub fn pack(&self, weights: &Weights<'_, i8>, scales: &[f32], bias: Bias<'_>, packed: &mut [u8]) -> Result<()> {
        weights.check(&self.shape)?;
        let columns = self.shape.all_columns();
        if scales.len() != columns || !bias.fits(columns) || packed.len() != self.packed_size() {
            return Err(Error::InvalidArgument);
        }
        Packing { shape: &self.shape, panels: &self.panels, row: self.row, weights, scales, bias }.write(packed);
        Ok(())
    }

    /// What tells packed forms of the same weights apart: columns of a panel and of a vector, bytes that a column's are a multiple
    /// of, and what is added to weights.
    pub const fn layout(&self) -> [usize; 4] {
        [self.row.width(), self.row.lanes, self.row.depth, self.row.offset as usize]
    }

    /// The elements of a column of a product of matrices as numbers: a row of the table whose transpose the packed matrix is.
    /// Fails unless the column is there and has so many, and the scale is that of the weight alone.
    #[inline]
    pub fn column(&self, packed: &[u8], column: usize, elements: &mut [f32]) -> Result<()> {
        let is_there = column < self.shape.all_columns() && elements.len() == self.shape.depth();
        if !is_there || packed.len() != self.packed_size() || self.runs.count != 1 || self.shape.groups != 1 {
            return Err(Error::InvalidArgument);
        }
        let panel = self.panels.get(column / self.panels.width);
        let (width, lane) = (panel.vectors * self.panels.lanes, column - panel.column);
        let bytes = &packed[panel.start..panel.start + width * self.panels.column_size];
        let (header, rows) = bytes.split_at(HEADER * width);
        let scale = header[4 * (width + lane)..].first_chunk::<4>().map_or(0.0, |bytes| f32::from_le_bytes(*bytes));
        for (row, four) in rows.chunks_exact(4 * width).zip(elements.chunks_mut(4)) {
            for (element, &byte) in four.iter_mut().zip(&row[4 * lane..]) {
                let weight = if self.row.offset == 0 {
                    i32::from(byte.cast_signed())
                } else {
                    i32::from(byte) - self.row.offset
                };
                *element = scale * weight as f32;
            }
        }
        Ok(())
    }

    /// The work.
    pub const fn grid(&self) -> Grid {
        Grid::new(self.shape.rows(), self.height, self.shape.groups * self.panels.per_group)
    }

    /// Bytes of a column's weights.
    pub(crate) const fn depth(&self) -> usize {
        self.panels.column_size - HEADER
    }

    /// The most rows of a tile.
    const fn height_of(&self, matrix: bool) -> usize {
        if matrix {
            self.row.matrix_height
        } else if self.shape.rows() >= MANY_ROWS {
            TILE_ROWS / self.row.height * self.row.height
        } else {
            self.row.height
        }
    }

    /// Bytes of scratch that each call needs, on any machine.
    pub fn scratch_size(&self) -> usize {
        let matrix = [false, self.row.matrix_height > 0];
        matrix.into_iter().map(|matrix| self.by(matrix).own_size()).max().unwrap_or(0)
    }

    /// Bytes of scratch that each call needs on this machine.
    const fn own_size(&self) -> usize {
        let rows = self.strip * self.height;
        scratch::total(&[
            scratch::part(self.runs.length, 1),
            scratch::part(rows * self.runs.count, size_of::<*const i8>()),
            scratch::part(self.copied(rows), 1),
            scratch::part(rows, 4),
            scratch::part(self.height * self.together * self.row.width(), 4),
            scratch::part(self.grid().panels * self.row.width(), 4),
            scratch::part(self.grid().panels * self.row.width(), 4),
            scratch::part(self.grid().panels * self.row.width(), 4),
            scratch::part(self.gathered(rows), 1),
        ])
    }

    const fn strip_of(&self, height: usize) -> usize {
        if self.packed_size() <= RESIDENT_BYTES {
            return 1;
        }
        let tiles = STRIP_BYTES / (height * (self.depth() + 1));
        let most = if self.runs.pixels > 1 { 4 } else { STRIP_TILES };
        if tiles == 0 {
            1
        } else if tiles < most {
            tiles
        } else {
            most
        }
    }

    const fn together_of(&self, strip: usize, matrix: bool) -> usize {
        if strip > 1 || matrix {
            1
        } else if self.panels.per_group < PANELS {
            self.panels.per_group
        } else {
            PANELS
        }
    }

    /// Bytes of the windows that may have to be copied for some rows.
    const fn copied(&self, rows: usize) -> usize {
        if self.runs.pixels > 1 { rows * self.shape.depth() } else { 0 }
    }

    /// Bytes of rows that are copied side by side, with room for a whole register behind the last.
    const fn gathered(&self, rows: usize) -> usize {
        if self.row.depth > 4 || self.joins_runs() { (rows + self.height) * self.depth() + REGISTER } else { 0 }
    }

    /// Whether the runs of a row are copied side by side without matrix instructions too: short ones with parts of words take longer to
    /// read than to copy. Where bytes of rows are not added up, nothing else reads them before they are multiplied.
    pub(crate) const fn joins_runs(&self) -> bool {
        self.row.offset != 0
            && self.runs.count > 1
            && self.runs.length < SHORT_RUN
            && !self.runs.length.is_multiple_of(4)
    }

    /// Bytes of a row whose runs are side by side.
    pub(crate) const fn joined(&self) -> usize {
        self.runs.count * self.runs.length.next_multiple_of(4)
    }

    /// Computes a block into bytes. Fails if an operand, the output or the scratch is too short, or if this processor lacks
    /// the instructions.
    pub fn compute(
        &self,
        operands: &ByteOperands<'_>,
        quantization: Quantization<'_>,
        output: &mut Output<'_, i8>,
        block: Block,
        scratch: &mut [u8],
    ) -> Result<()> {
        self.check(operands, block, |rows, columns| output.check(rows, columns))?;
        let store = Store::Bytes(output.at(0, 0), quantization);
        // SAFETY: `check` held operands and output against the block.
        unsafe { self.run(operands, (store, output.stride()), block, scratch) }
    }

    /// Computes a block into real numbers. Fails as [`Self::compute`].
    pub fn compute_floats(
        &self,
        operands: &ByteOperands<'_>,
        output: &mut Output<'_, f32>,
        block: Block,
        scratch: &mut [u8],
    ) -> Result<()> {
        self.check(operands, block, |rows, columns| output.check(rows, columns))?;
        let store = Store::Floats(output.at(0, 0));
        // SAFETY: `check` held operands and output against the block.
        unsafe { self.run(operands, (store, output.stride()), block, scratch) }
    }

    /// The kernels that compute this form of weights here.
    fn kernels(&self) -> Result<&'static ByteKernels> {
        self.row.kernels.filter(|kernels| kernels.isa.is_available()).ok_or(Error::NotSupported)
    }

    /// Computes a checked block.
    ///
    /// # Safety
    ///
    /// [`Self::check`] accepted operands, output and block.
    unsafe fn run(
        &self,
        operands: &ByteOperands<'_>,
        store: (Store<'_>, usize),
        block: Block,
        scratch: &mut [u8],
    ) -> Result<()> {
        let kernels = self.kernels()?;
        let mut scratch = Scratch::new(scratch)?;
        let rows = self.strip * self.height;
        let padding = scratch.take::<i8>(self.runs.length)?;
        padding.fill(operands.zero_point);
        let sums = self.height * self.together * self.row.width();
        let columns = self.grid().panels * self.row.width();
        let memory = Memory {
            padding: padding.as_ptr(),
            table: scratch.take::<*const i8>(rows * self.runs.count)?.as_mut_ptr(),
            copies: scratch.take::<i8>(self.copied(rows))?.as_mut_ptr(),
            addends: scratch.take::<i32>(rows)?,
            sums: scratch.take::<i32>(sums)?.as_mut_ptr(),
            factors: scratch.take::<i32>(columns)?.as_mut_ptr(),
            scales: scratch.take::<f32>(columns)?.as_mut_ptr(),
            bias: scratch.take::<f32>(columns)?.as_mut_ptr(),
            gathered: scratch.take::<i8>(self.gathered(rows))?,
        };
        let mut strip = Strip::new(self, operands, store, kernels, memory);
        // SAFETY: where matrix instructions compute, AMX is permitted.
        #[cfg(target_arch = "x86_64")]
        let _tiles = self.matrix.then(|| unsafe { crate::amx::Tiles::configure(crate::amx::DEPTH) });
        let mut first = block.tiles[0];
        while first < block.tiles[1] {
            let last = block.tiles[1].min(first + self.strip);
            // SAFETY: the caller's promise; the processor was asked.
            unsafe { strip.compute([first, last], block.panels)? };
            first = last;
        }
        Ok(())
    }

    fn check(
        &self,
        operands: &ByteOperands<'_>,
        block: Block,
        output: impl FnOnce(core::ops::Range<usize>, core::ops::Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let grid = self.grid();
        let scaled = operands.row_scales.is_empty() || operands.row_scales.len() == self.shape.rows();
        let whole = operands.input.len() >= self.shape.input_length()? && operands.weights.len() == self.packed_size();
        if !scaled || !whole || !block.is_in(&grid) {
            return Err(Error::InvalidArgument);
        }
        if block.tiles[0] == block.tiles[1] || block.panels[0] == block.panels[1] {
            return Ok(());
        }
        let rows = grid.rows_of(block.tiles[0]).start..grid.rows_of(block.tiles[1] - 1).end;
        let columns = self.columns_of(block.panels);
        if let Some([stride, length]) = operands.residual.map(|residual| residual.extent()) {
            let needed = (rows.end - 1).checked_mul(stride).and_then(|start| start.checked_add(columns.end));
            if needed.is_none_or(|needed| needed > length) {
                return Err(Error::InvalidArgument);
            }
        }
        output(rows, columns)
    }

    /// The columns of the output that some panels cover, for splitting an output.
    pub fn columns_of(&self, panels: [usize; 2]) -> core::ops::Range<usize> {
        let column = |index: usize| {
            let group = index.checked_div(self.panels.per_group).unwrap_or(0);
            let within = (index - group * self.panels.per_group) * self.panels.width;
            group * self.shape.columns + within.min(self.shape.columns)
        };
        column(panels[0])..column(panels[1])
    }
}
