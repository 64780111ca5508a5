//! Products of rows that were quantized at run time with weights of half a byte: sizes, packing, and computing.
#![allow(unsafe_code, reason = "tiles are called with pointers whose bounds are checked here, once a call")]

use et_core::{Error, Result};

use super::pack::Packing;
use super::rows::NibbleRow;
use super::tile::Tile;
use crate::activation::Activation;
use crate::byte::finish::RowScale;
use crate::float::rows::FloatRow;
use crate::float::tile::Tile as FloatTile;
use crate::isa::Isa;
use crate::output::Output;
use crate::scratch::{self, Scratch};
use crate::shape::{Block, Grid};

/// The operands of one execution, the same for all blocks.
#[derive(Clone, Copy, Debug)]
pub struct NibbleOperands<'a> {
    /// Rows of bytes, one after another: what [`crate::quantize_rows`] wrote.
    pub input: &'a [i8],
    /// A scale and a zero point for each row.
    pub row_scales: &'a [RowScale],
    /// What [`NibbleProduct::pack`] wrote; best on a 64-byte boundary.
    pub weights: &'a [u8],
    /// What is applied to every element.
    pub activation: Activation,
}

/// A product with half bytes of one shape by the kernels of one instruction set.
pub struct NibbleProduct {
    rows: usize,
    inner: usize,
    columns: usize,
    group: usize,
    is_biased: bool,
    row: &'static NibbleRow,
}

impl NibbleProduct {
    /// Rows of `inner` elements times columns whose elements have a scale for each `group`. Fails unless `group` is a
    /// multiple of eight that divides `inner`. Any instruction set may be packed for on any machine.
    pub fn new([rows, inner, columns]: [usize; 3], group: usize, is_biased: bool, isa: Isa) -> Result<Self> {
        if group == 0 || !group.is_multiple_of(8) || !inner.is_multiple_of(group) {
            return Err(Error::InvalidArgument);
        }
        Ok(Self { rows, inner, columns, group, is_biased, row: NibbleRow::of(isa) })
    }

    /// Bytes of the packed weights.
    pub const fn packed_size(&self) -> usize {
        self.columns.next_multiple_of(self.row.panel) * Packing::column_size(self.inner, self.group, self.is_biased)
    }

    /// Packs weights from -8 to 7 (`[columns, inner]`), scales (`[columns, inner / group]`, kept as `float16`) and a bias, empty
    /// where the product has none. Fails unless lengths are those of the product.
    pub fn pack(&self, weights: &[i8], scales: &[f32], bias: &[f32], packed: &mut [u8]) -> Result<()> {
        let groups = self.inner / self.group;
        let whole = weights.len() == self.columns * self.inner && scales.len() == self.columns * groups;
        let biased = bias.len() == if self.is_biased { self.columns } else { 0 };
        if !whole || !biased || packed.len() != self.packed_size() {
            return Err(Error::InvalidArgument);
        }
        let packing = Packing { weights, scales, bias, inner: self.inner, group: self.group };
        for panel in 0..self.grid().panels {
            let [first, columns, start] = self.panel(panel);
            let (width, size) = (self.row.panel, self.panel_size());
            packing.write(first, columns, width, &mut packed[start..start + size]);
        }
        Ok(())
    }

    /// The elements of a column as they are multiplied with: a row of the table whose transpose the packed matrix is. Fails
    /// unless the column is there and has so many.
    pub fn column(&self, packed: &[u8], column: usize, elements: &mut [f32]) -> Result<()> {
        if column >= self.columns || packed.len() != self.packed_size() || elements.len() != self.inner {
            return Err(Error::InvalidArgument);
        }
        let width = self.row.panel;
        let [first, _, start] = self.panel(column / width);
        Packing::read(
            &packed[start..start + self.panel_size()],
            (width, column - first),
            self.is_biased,
            elements,
            self.group,
        );
        Ok(())
    }

    /// What tells packed forms of the same weights apart: the columns of a panel.
    pub const fn layout(&self) -> usize {
        self.row.panel
    }

    const fn panel_size(&self) -> usize {
        self.row.panel * Packing::column_size(self.inner, self.group, self.is_biased)
    }

    /// The first column of a panel, its columns, its first byte.
    fn panel(&self, index: usize) -> [usize; 3] {
        let first = index * self.row.panel;
        let columns = (self.columns - first).min(self.row.panel);
        [first, columns, first * Packing::column_size(self.inner, self.group, self.is_biased)]
    }

    /// The work.
    pub const fn grid(&self) -> Grid {
        Grid::new(self.rows, self.row.height, self.columns.div_ceil(self.row.panel))
    }

    /// The columns of the output that some panels cover, for splitting an output.
    pub fn columns_of(&self, panels: [usize; 2]) -> core::ops::Range<usize> {
        let column = |panel: usize| (panel * self.row.panel).min(self.columns);
        column(panels[0])..column(panels[1])
    }

    /// Bytes of scratch that each call needs.
    pub const fn scratch_size(&self) -> usize {
        scratch::total(&[scratch::part(self.rows * (self.inner / self.group), 4)])
    }

    /// Computes a block into the output. Fails if an operand, the output or the scratch is too short, or if this processor
    /// lacks the instructions.
    pub fn compute(
        &self,
        operands: &NibbleOperands<'_>,
        output: &mut Output<'_, f32>,
        block: Block,
        scratch: &mut [u8],
    ) -> Result<()> {
        let grid = self.grid();
        if block.tiles[0] >= block.tiles[1] || block.panels[0] >= block.panels[1] {
            return Ok(());
        }
        let whole = operands.input.len() == self.rows * self.inner
            && operands.row_scales.len() == self.rows
            && operands.weights.len() == self.packed_size();
        if !whole || !block.is_in(&grid) {
            return Err(Error::InvalidArgument);
        }
        let rows = grid.rows_of(block.tiles[0]).start..grid.rows_of(block.tiles[1] - 1).end;
        output.check(rows.clone(), self.columns_of(block.panels))?;
        let sums = Scratch::new(scratch)?.take::<i32>(rows.len() * (self.inner / self.group))?;
        let elements = &operands.input[rows.start * self.inner..rows.end * self.inner];
        for (sum, group) in sums.iter_mut().zip(elements.chunks_exact(self.group)) {
            *sum = group.iter().fold(0, |sum: i32, &byte| sum.wrapping_add(i32::from(byte))).wrapping_mul(-8);
        }
        for panel in block.panels[0]..block.panels[1] {
            for tile in block.tiles[0]..block.tiles[1] {
                // SAFETY: operands and output were held against the block; the sums are those of its rows.
                unsafe { self.tile(operands, output, [tile, panel], (rows.start, sums))? };
            }
        }
        Ok(())
    }

    /// Computes the tiles of some rows and a panel.
    ///
    /// # Safety
    ///
    /// Operands and output cover them; there is a sum for each group of each row from the given one on.
    unsafe fn tile(
        &self,
        operands: &NibbleOperands<'_>,
        output: &mut Output<'_, f32>,
        [tile, panel]: [usize; 2],
        (first_row, sums): (usize, &[i32]),
    ) -> Result<()> {
        let kernels = self.row.kernels.filter(|_| self.row.isa.is_available()).ok_or(Error::NotSupported)?;
        let rows = self.grid().rows_of(tile);
        let groups = self.inner / self.group;
        let [first, all, start] = self.panel(panel);
        for column in (0..all).step_by(self.row.width()) {
            let columns = (all - column).min(self.row.width());
            let kernel = kernels(rows.len() - 1, columns.div_ceil(self.row.lanes) - 1).ok_or(Error::Internal)?;
            let call = Tile {
                input: operands.input.as_ptr().wrapping_add(rows.start * self.inner),
                input_stride: self.inner,
                row_sums: sums.as_ptr().wrapping_add((rows.start - first_row) * groups),
                row_scales: operands.row_scales.as_ptr().wrapping_add(rows.start),
                groups,
                group: self.group,
                panel: operands.weights.as_ptr().wrapping_add(start),
                width: self.row.panel,
                column,
                is_biased: self.is_biased,
                output: output.at(rows.start, first + column),
                stride: output.stride(),
                columns,
            };
            // SAFETY: the caller's promise; the processor was asked.
            unsafe {
                kernel(&call);
                self.finish(operands.activation, call.output, call.stride, [rows.len(), columns])?;
            }
        }
        Ok(())
    }

    /// Applies the activation to a tile.
    ///
    /// # Safety
    ///
    /// The output has so many rows and columns; the processor has the instructions.
    unsafe fn finish(
        &self,
        activation: Activation,
        output: *mut f32,
        stride: usize,
        [rows, columns]: [usize; 2],
    ) -> Result<()> {
        let kernels = FloatRow::of(self.row.isa).kernels.ok_or(Error::Internal)?;
        // SAFETY: the caller's promise.
        unsafe { (kernels.finish)(&FloatTile::stored(output, stride, columns, activation), rows) };
        Ok(())
    }
}
