//! Blockwise GEMM on dynamically quantized int8 rows: sizes, packing, and computing a block of tiles.
#![allow(unsafe_code, reason = "tiles are called with pointers whose bounds are checked here, once a call")]

use core::ops::Range;

use et_core::{Error, Result};
use et_simd::{Activation, Isa};

use super::pack::{Packing, panel_width};
use crate::int8::pack::Layout;
use crate::kernels::block::{SETS, SIDE, TILE, Tile};
use crate::kernels::block_format::BlockFormat;
#[cfg(target_arch = "x86_64")]
use crate::kernels::block_format::{Form, by_form};
use crate::kernels::finish::RowScale;
use crate::kernels::float::Epilogue;
use crate::kernels::{KernelRow, tile_of};
#[cfg(target_arch = "x86_64")]
use crate::kernels::{amx, block::depth, block_amx};
use crate::output::Output;
use crate::panels::Panels;
use crate::scratch::{self, Scratch};
use crate::shape::{Block, Grid, Shape};

/// Operands of an execution, shared by every block.
#[derive(Clone, Copy, Debug)]
pub struct BlockOperands<'a> {
    /// Contiguous int8 rows, quantized by [`crate::quantize_rows`].
    pub input: &'a [i8],
    /// Per-token qparams; or, with zero points of 0, those of as many parts of each row, which are whole blocks of weights
    /// ([`BlockFormat::divides_rows`]).
    pub row_scales: &'a [RowScale],
    /// Weights packed by [`BlockGemm::pack`]; 64-byte alignment is fastest.
    pub weights: &'a [u8],
    /// The activation of the epilogue.
    pub activation: Activation,
}

/// An int8 x blockwise int4, int6 or int8 GEMM of a fixed shape with the kernels of a fixed ISA.
pub struct BlockGemm {
    rows: usize,
    inner: usize,
    columns: usize,
    pub(crate) form: BlockFormat,
    /// The packed panels, in bytes.
    pub(crate) panels: Panels,
    row: &'static KernelRow,
    /// Whether M and the block size fit AMX tiles.
    by_matrix: bool,
}

/// The sum of each block of some rows, and the scales.
struct RowSums<'s> {
    /// The first row.
    first: usize,
    /// Blocks of a row.
    groups: usize,
    /// `[rows, groups]`.
    sums: &'s [i32],
    /// The scale of each block, `[rows, groups]`; empty where a whole row shares a scale.
    scales: &'s [f32],
}

impl BlockGemm {
    /// A GEMM of M = `rows`, K = `inner`, N = `columns`. Fails unless the block size divides K and is a multiple of eight, of sixteen
    /// for int6, and for formats without kernels: int6 with [`Scales::Halves`](crate::Scales), int8 with second-level scales, offsets with
    /// second-level scales of columns, and super-blocks that K does not fill. Packing for any ISA works on every host.
    pub fn new([rows, inner, columns]: [usize; 3], form: BlockFormat, isa: Isa) -> Result<Self> {
        if !form.fits(inner) {
            return Err(Error::InvalidArgument);
        }
        Shape::product(rows, inner, columns).check()?;
        let (row, width) = (KernelRow::of(isa), panel_width(isa.architecture()));
        // A block of K is a multiple of the K bytes of AMX instructions.
        let by_matrix = isa == Isa::Amx && rows >= SIDE && width == SIDE && form.group.is_multiple_of(32);
        let panels = Panels::new(columns, [width, 1], form.column(inner));
        Ok(Self { rows, inner, columns, form, panels, row, by_matrix })
    }

    /// Size of the packed weights in bytes.
    pub const fn packed_size(&self) -> usize {
        self.panels.size(1)
    }

    /// Packs weights in the range of their type (`[columns, inner]`), block scales and offsets (each `[columns, inner / group]`; no offsets
    /// in a format without) and a bias (empty without bias). Fails if a length differs from the shape or the format cannot represent the
    /// scales.
    #[inline]
    pub fn pack(&self, weights: &[i8], [scales, offsets]: [&[f32]; 2], bias: &[f32], packed: &mut [u8]) -> Result<()> {
        let count = self.columns * (self.inner / self.form.group);
        let has = |numbers: &[f32], count: usize, is_there: bool| numbers.len() == if is_there { count } else { 0 };
        let whole = weights.len() == self.columns * self.inner
            && has(scales, count, true)
            && has(offsets, count, self.form.has_offsets)
            && has(bias, self.columns, self.form.is_biased);
        if !whole || packed.len() != self.packed_size() {
            return Err(Error::InvalidArgument);
        }
        let (inner, form, offset) = (self.inner, self.form, self.offset());
        let packing = Packing { weights, scales: [scales, offsets], bias, inner, form, offset };
        for panel in (0..self.panels.per_group).map(|index| self.panels.get(index)) {
            packing.write(panel.column, panel.columns, panel.step, &mut packed[panel.start..panel.next])?;
        }
        Ok(())
    }

    /// Dequantizes a column of the packed weights: a row of the embedding table whose transpose is packed (tied
    /// weights). Fails if the column does not exist or `elements` has a length other than K.
    #[inline]
    pub fn column(&self, packed: &[u8], column: usize, elements: &mut [f32]) -> Result<()> {
        if column >= self.columns || packed.len() != self.packed_size() || elements.len() != self.inner {
            return Err(Error::InvalidArgument);
        }
        let panel = self.panels.get(column / self.panels.width);
        let place = (panel.step, column - panel.column);
        Packing::read(&packed[panel.start..panel.next], place, (self.form, self.offset()), elements);
        Ok(())
    }

    /// What is added to packed weights; int8 are as in [`crate::int8::pack`].
    const fn offset(&self) -> i32 {
        self.form.offset(Layout::of(self.row.isa.architecture()).offset)
    }

    /// Identifies the packed layout of the weights: columns per panel.
    pub const fn layout(&self) -> usize {
        self.panels.width
    }

    /// The grid of tiles and panels.
    pub const fn grid(&self) -> Grid {
        let height = if self.by_matrix { SIDE } else { self.row.blocks.height };
        Grid::new(self.rows, height, self.panels.per_group)
    }

    /// Scratch bytes per call: among others a row sum and a scale for each block of each row.
    pub const fn scratch_size(&self) -> usize {
        let blocks = scratch::part(self.rows * (self.inner / self.form.group), 4);
        let widened = [scratch::part(self.inner, SIDE), scratch::part(SETS * TILE, 4), scratch::part(TILE, 4)];
        let [weights, products, totals] = if self.by_matrix { widened } else { [0; 3] };
        scratch::total(&[blocks, blocks, weights, products, totals])
    }

    /// Computes a block of the output. Fails if an operand, the output or the scratch is too short, or if this CPU
    /// lacks the ISA.
    #[inline]
    pub fn compute(
        &self,
        operands: &BlockOperands<'_>,
        output: &mut Output<'_, f32>,
        block: Block,
        scratch: &mut [u8],
    ) -> Result<()> {
        let grid = self.grid();
        if block.is_empty() {
            return Ok(());
        }
        let whole = operands.input.len() == self.rows * self.inner && operands.weights.len() == self.packed_size();
        let parts = self.parts(operands.row_scales).ok_or(Error::InvalidArgument)?;
        if !whole || !block.is_in(&grid) {
            return Err(Error::InvalidArgument);
        }
        output.check(&grid.rows_of_all(block.tiles), &self.panels.columns_of(block.panels))?;
        let mut scratch = Scratch::new(scratch)?;
        let sums = self.row_sums((operands, parts), grid.rows_of_all(block.tiles), &mut scratch)?;
        // SAFETY: operands and output are validated for the block above.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if self.by_matrix && Isa::Amx.is_available() {
                return self.multiply_matrices(operands, output, block, (&sums, scratch));
            }
            self.multiply_vectors(operands, output, block, &sums)
        }
    }

    /// The parts of a row with a scale each; `None` for a number that blocks of weights do not fill.
    #[inline]
    fn parts(&self, row_scales: &[RowScale]) -> Option<usize> {
        let parts = row_scales.len().checked_div(self.rows)?;
        (parts * self.rows == row_scales.len() && self.form.divides_rows(self.inner, parts)).then_some(parts)
    }

    /// The sum of each block of some rows, and the scales. With AMX the rows before a partial tile belong to the tile.
    #[inline]
    fn row_sums<'s>(
        &self,
        (operands, parts): (&BlockOperands<'_>, usize),
        rows: Range<usize>,
        scratch: &mut Scratch<'s>,
    ) -> Result<RowSums<'s>> {
        let groups = self.inner / self.form.group;
        let first = if self.by_matrix { rows.start.min(self.rows - SIDE) } else { rows.start };
        let sums = scratch.take::<i32>((rows.end - first) * groups)?;
        let elements = &operands.input[first * self.inner..rows.end * self.inner];
        for (sum, group) in sums.iter_mut().zip(elements.chunks_exact(self.form.group)) {
            *sum = group.iter().fold(0, |sum: i32, &byte| sum.wrapping_add(i32::from(byte)));
        }
        let scales = scratch.take::<f32>(if parts == 1 { 0 } else { (rows.end - first) * groups })?;
        let of_parts = operands.row_scales[first * parts..].iter();
        for (blocks, part) in scales.chunks_exact_mut((groups / parts).max(1)).zip(of_parts) {
            blocks.fill(part.scale);
        }
        Ok(RowSums { first, groups, sums, scales })
    }

    /// Computes a block with the vector micro-kernels.
    ///
    /// # Safety
    ///
    /// Operands, row sums and output cover the block.
    #[inline]
    unsafe fn multiply_vectors(
        &self,
        operands: &BlockOperands<'_>,
        output: &mut Output<'_, f32>,
        block: Block,
        sums: &RowSums<'_>,
    ) -> Result<()> {
        let kernels = self.row.blocks.available()?;
        let grid = self.grid();
        for (panel, column) in self.vectors(block.panels, self.row.blocks.width()) {
            for tile in block.tiles[0]..block.tiles[1] {
                let all = grid.rows_of(tile);
                for first in all.clone().step_by(self.row.blocks.height) {
                    let part = first..all.end.min(first + self.row.blocks.height);
                    let call = self.call((operands, sums), output, first, [panel, column], self.row.blocks.width());
                    let vectors = call.columns.div_ceil(self.row.blocks.lanes);
                    let kernel = tile_of(kernels.tiles(self.form), part.len(), vectors)?;
                    // SAFETY: the caller guarantees that operands and output cover the block; `is_available` checked
                    // the ISA.
                    unsafe { kernel(&call) };
                    // SAFETY: as above.
                    unsafe { self.finish(operands.activation, call.output, &call, part.len())? };
                }
            }
        }
        Ok(())
    }

    /// Computes a block with AMX.
    ///
    /// # Safety
    ///
    /// Operands and output cover the block; the CPU has AMX.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    unsafe fn multiply_matrices(
        &self,
        operands: &BlockOperands<'_>,
        output: &mut Output<'_, f32>,
        block: Block,
        (sums, mut scratch): (&RowSums<'_>, Scratch<'_>),
    ) -> Result<()> {
        let memory = block_amx::Memory {
            weights: scratch.take::<i8>(self.inner * SIDE)?.as_mut_ptr(),
            sums: scratch.take::<i32>(SETS * TILE)?.as_mut_ptr(),
            totals: scratch.take::<f32>(TILE)?.as_mut_ptr(),
        };
        // SAFETY: the caller guarantees AMX, which includes the permission of the operating system.
        let _tiles = unsafe { amx::Tiles::configure(depth(self.form.group)) };
        // SAFETY: the caller guarantees AMX and that operands and output cover the block.
        unsafe { by_form!(self.form, F => self.multiply_panels::<F>((operands, sums), output, block, memory)) }
    }

    /// Computes the panels of a block with configured tile registers.
    ///
    /// # Safety
    ///
    /// As of [`Self::multiply_matrices`]; the weights have the form `F`.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    unsafe fn multiply_panels<F: Form>(
        &self,
        (operands, sums): (&BlockOperands<'_>, &RowSums<'_>),
        output: &mut Output<'_, f32>,
        block: Block,
        memory: block_amx::Memory,
    ) -> Result<()> {
        for (panel, column) in self.vectors(block.panels, SIDE) {
            // SAFETY: the packed weights hold the panel, and the scratch has room for the panel's columns.
            unsafe {
                block_amx::widen::<F>(&self.call((operands, sums), output, sums.first, [panel, column], SIDE), memory)
            };
            for tile in block.tiles[0]..block.tiles[1] {
                let rows = self.grid().rows_of(tile);
                // A partial tile also computes earlier rows, which are not stored.
                let first = rows.start.min(self.rows - SIDE);
                let call = self.call((operands, sums), output, first, [panel, column], SIDE);
                // SAFETY: the caller guarantees that operands and output cover the block; `first` leaves
                // [`SIDE`] rows.
                unsafe {
                    let stored = rows.start - first..rows.end - first;
                    block_amx::compute::<F>(&call, memory, stored);
                };
                let stored = call.output.wrapping_add((rows.start - first) * call.stride);
                // SAFETY: the caller upholds the contract of this function.
                unsafe { self.finish(operands.activation, stored, &call, rows.len())? };
            }
        }
        Ok(())
    }

    /// Splits panels into tiles of `width` columns: pairs of panel index and first column within the panel.
    fn vectors(&self, panels: [usize; 2], width: usize) -> impl Iterator<Item = (usize, usize)> {
        let columns = |panel: usize| self.panels.get(panel).columns;
        (panels[0]..panels[1])
            .flat_map(move |panel| (0..columns(panel)).step_by(width).map(move |column| (panel, column)))
    }

    /// Micro-kernel arguments for the rows from `row` on and at most `width` columns.
    #[inline]
    fn call(
        &self,
        (operands, sums): (&BlockOperands<'_>, &RowSums<'_>),
        output: &mut Output<'_, f32>,
        row: usize,
        [panel, column]: [usize; 2],
        width: usize,
    ) -> Tile {
        let panel = self.panels.get(panel);
        Tile {
            input: operands.input.as_ptr().wrapping_add(row * self.inner),
            input_stride: self.inner,
            row_sums: sums.sums.as_ptr().wrapping_add((row - sums.first) * sums.groups),
            correction: -self.offset(),
            row_scales: operands.row_scales.as_ptr().wrapping_add(row),
            block_scales: match sums.scales {
                [] => core::ptr::null(),
                scales => scales.as_ptr().wrapping_add((row - sums.first) * sums.groups),
            },
            groups: self.inner / self.form.group,
            form: self.form,
            panel: operands.weights.as_ptr().wrapping_add(panel.start),
            width: panel.step,
            column,
            output: output.at(row, panel.column + column),
            stride: output.stride(),
            columns: (panel.columns - column).min(width),
        }
    }

    /// Applies the activation to the rows of a tile.
    ///
    /// # Safety
    ///
    /// The output has `rows` rows of the tile's columns; the CPU has the ISA.
    #[inline]
    unsafe fn finish(&self, activation: Activation, output: *mut f32, tile: &Tile, rows: usize) -> Result<()> {
        let kernels = self.row.float.kernels.ok_or(Error::Internal)?;
        let epilogue = Epilogue::new(output, tile.stride, tile.columns, activation);
        // SAFETY: the caller upholds the contract of this function.
        unsafe { (kernels.finish)(&epilogue, epilogue.stored(rows)) };
        Ok(())
    }
}
