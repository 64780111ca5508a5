//! Computing a block of an int8 GEMM: strips (M blocks) of several tiles that share each weight panel.
#![allow(unsafe_code, reason = "kernels are called with pointers whose bounds are checked here, once a call")]

use core::ops::Range;

use et_core::{Error, Result};
use et_simd::Activation;

use super::gemm::Int8Gemm;
use super::pack::HEADER;
use crate::kernels::finish::{Added, Finish, Quantization, RowScale, Store};
use crate::kernels::gather::Gather;
use crate::kernels::int8::Tile;
use crate::kernels::{Int8Kernels, tile_of};
use crate::output::{Output, Residual};
use crate::panels::Panel;
use crate::scratch::Scratch;
use crate::shape::{Block, Grid};
use crate::window::Windows;

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
    fn parts(&self, row: usize, column: usize) -> (Added, usize, bool) {
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

impl Int8Gemm {
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
        let windows = Windows::new(&self.shape, self.runs, operands.input.as_ptr(), memory.padding);
        let (product, grid, first_row, first_strip) = (self, self.grid(), 0, true);
        let mut strip = Strip { product, operands, store, windows, kernels, grid, memory, first_row, first_strip };
        // SAFETY: `is_available` checked that the CPU has AMX and that the operating system permits AMX.
        #[cfg(target_arch = "x86_64")]
        let _tiles =
            self.is_matrix().then(|| unsafe { crate::kernels::amx::Tiles::configure(crate::kernels::amx::DEPTH) });
        for first in (block.tiles[0]..block.tiles[1]).step_by(self.strip) {
            let last = block.tiles[1].min(first + self.strip);
            // SAFETY: the caller upholds the contract of this function, and `is_available` checked the ISA.
            unsafe { strip.compute([first, last], block.panels)? };
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
        let (rows, columns) = (grid.rows_of_all(block.tiles), self.panels.columns_of(block.panels));
        operands.residual.map_or(Ok(()), |residual| residual.check(&rows, &columns))?;
        output.check(&rows, &columns)
    }
}

/// Scratch memory of a strip.
struct Memory<'a> {
    /// A K segment of padding.
    padding: *const i8,
    /// The indirection buffer: pointers to the K segments of the rows.
    table: *mut *const i8,
    /// Copied receptive fields (im2col at the image borders).
    copies: *mut i8,
    /// Corrections per row: scaled row sums.
    addends: &'a mut [i32],
    /// Accumulators of a tile and up to `together` panels.
    sums: *mut i32,
    /// Corrections per column: bias minus zero point times column sum, or the column sums.
    factors: *mut i32,
    /// Per-channel scales.
    scales: *mut f32,
    /// The bias of each column.
    bias: *mut f32,
    /// Packed rows of A, for AMX and for short K segments.
    gathered: &'a mut [i8],
}

/// A strip.
struct Strip<'a> {
    product: &'a Int8Gemm,
    operands: &'a Int8Operands<'a>,
    store: (Store, usize),
    windows: Windows<'a, i8>,
    kernels: &'static Int8Kernels,
    grid: Grid,
    memory: Memory<'a>,
    first_row: usize,
    first_strip: bool,
}

impl Strip<'_> {
    /// Computes the tiles of a strip for a range of panels.
    ///
    /// # Safety
    ///
    /// The product validated operands and output for the tiles and panels, and `memory` has room for the rows of the
    /// strip.
    unsafe fn compute(&mut self, tiles: [usize; 2], panels: [usize; 2]) -> Result<()> {
        self.first_row = self.grid.rows_of(tiles[0]).start;
        let (per_group, together) = (self.product.panels.per_group, self.product.together);
        let mut first = panels[0];
        while first < panels[1] {
            let group = first / per_group;
            let last = panels[1].min((group + 1) * per_group).min(first + together);
            // SAFETY: the caller guarantees validated operands; the packed weights hold the panels, and `fill` writes
            // the indirection buffer before the tiles read from there.
            unsafe {
                if first == panels[0] || first.is_multiple_of(per_group) {
                    (tiles[0]..tiles[1]).for_each(|tile| self.fill(group, tile));
                }
                if self.first_strip {
                    (first..last).for_each(|panel| self.read_header(panel));
                }
                for tile in tiles[0]..tiles[1] {
                    self.tile(first..last, tile)?;
                }
            }
            first = last;
        }
        self.first_strip = false;
        Ok(())
    }

    /// Fills the indirection buffer, the row corrections and, if needed, the packed rows of a tile.
    unsafe fn fill(&mut self, group: usize, tile: usize) {
        let product = self.product;
        let rows = self.grid.rows_of(tile);
        let before = rows.start - self.first_row;
        let table = self.memory.table.wrapping_add(before * product.runs.count);
        let copies = self.memory.copies.wrapping_add(before * product.shape.depth());
        // SAFETY: indirection buffer and copies have room for the rows of a strip.
        unsafe { self.windows.fill(group, rows.clone(), table, copies) };
        let is_copied = if product.is_matrix() { self.direct(rows.start).is_none() } else { product.joins_runs() };
        let gathered = self.memory.gathered.as_mut_ptr().wrapping_add(before * product.depth());
        let gather = Gather {
            table,
            rows: rows.len(),
            runs: product.runs.count,
            length: product.runs.length,
            factor: -product.layout.offset,
            addends: self.memory.addends.as_mut_ptr().wrapping_add(before),
            to: if is_copied { gathered } else { core::ptr::null_mut() },
            stride: product.depth(),
        };
        if product.layout.offset == 0 {
            self.memory.addends.fill(0);
        } else {
            // SAFETY: `windows` wrote a pointer for each K segment of each row; `gathered` has room for the packed
            // depth of each row.
            unsafe { (self.kernels.gather)(&gather) };
        }
        if !product.is_matrix() && is_copied {
            for row in 0..rows.len() {
                // SAFETY: the indirection buffer has `count * rows` pointers, of which the first `rows` are
                // overwritten.
                unsafe { table.add(row).write(gathered.wrapping_add(row * product.depth())) };
            }
        }
    }

    /// The address of a tile's rows in the input, if AMX can read the rows in place.
    fn direct(&self, first: usize) -> Option<*const i8> {
        let product = self.product;
        let shape = &product.shape;
        let fits = shape.groups == 1 && shape.channels == product.depth() && shape.is_pointwise();
        let within = first + product.height <= shape.rows();
        (fits && within).then(|| self.operands.input.as_ptr().wrapping_add(first * shape.pixel_stride))
    }

    /// Reads a panel header: computes the column corrections (bias minus zero point times column sum for static inputs,
    /// the column sum for per-token inputs) and copies scales and bias to the block's arrays.
    ///
    /// # Safety
    ///
    /// The packed weights hold the panel.
    unsafe fn read_header(&mut self, index: usize) {
        let panel = self.product.panels.get(index);
        let (width, step) = (panel.vectors * self.product.panels.lanes, panel.step);
        let header = self.operands.weights.as_ptr().cast::<i32>().wrapping_add(panel.start);
        let (zero, is_static) = (i32::from(self.operands.zero_point), self.operands.row_scales.is_empty());
        let first = index * self.product.panels.width;
        // SAFETY: a header has three rows of the panel's width, and the arrays have room for every panel.
        unsafe {
            header.cast::<f32>().copy_to_nonoverlapping(self.memory.bias.add(first), width);
            header.cast::<f32>().add(step).copy_to_nonoverlapping(self.memory.scales.add(first), width);
            for column in 0..width {
                let (bias, sum) = (header.add(column).read_unaligned(), header.add(2 * step + column).read_unaligned());
                let factor = if is_static { bias.wrapping_sub(zero.wrapping_mul(sum)) } else { sum };
                self.memory.factors.add(first + column).write(factor);
            }
        }
    }

    /// Computes a tile for a range of panels in the same group.
    unsafe fn tile(&mut self, panels: Range<usize>, tile: usize) -> Result<()> {
        let rows = self.grid.rows_of(tile);
        let calls = Grid::new(rows.len(), self.product.row.height, 1);
        for index in panels.clone() {
            let panel = self.product.panels.get(index);
            let weights = self.operands.weights.as_ptr().wrapping_add(4 * (panel.start + HEADER * panel.step));
            let sums = self.memory.sums.wrapping_add((index - panels.start) * self.product.panels.width);
            if self.product.is_matrix() {
                // SAFETY: the caller upholds the contract of this function.
                unsafe { self.multiply_matrix(&panel, rows.clone(), weights, sums) };
            } else {
                let size = 4 * panel.step * self.product.panels.column_size;
                // Each K step prefetches half of the bytes that the step consumes, so that two tiles prefetch the next
                // panel.
                let half = tile % 2 * (size / 2);
                let ahead = self.operands.weights.as_ptr().wrapping_add(4 * panel.next + half);
                // SAFETY: the caller upholds the contract of this function.
                unsafe { self.multiply(&panel, (rows.start, &calls), [weights, ahead], sums)? };
            }
        }
        // SAFETY: the caller guarantees valid operands, and the accumulators are computed.
        unsafe { self.finish(panels, rows) };
        Ok(())
    }

    /// Accumulates a macro-tile with a micro-kernel call per MR rows.
    unsafe fn multiply(
        &mut self,
        panel: &Panel,
        (first, calls): (usize, &Grid),
        [weights, ahead]: [*const u8; 2],
        sums: *mut i32,
    ) -> Result<()> {
        let (product, before) = (self.product, first - self.first_row);
        let (runs, length) = match product.joins_runs() {
            true => (1, product.joined()),
            false => (product.runs.count, product.runs.length),
        };
        for call in 0..calls.tiles {
            let Range { start, end } = calls.rows_of(call);
            let kernel = tile_of(self.kernels.tiles, end - start, panel.vectors)?;
            let tile = Tile {
                table: self.memory.table.wrapping_add(before * product.runs.count + start),
                step: calls.rows,
                runs,
                length,
                panel: weights,
                sums: sums.wrapping_add(start * self.stride()),
                stride: self.stride(),
                ahead,
            };
            // SAFETY: the caller upholds the contract of this function, and `is_available` checked the ISA.
            unsafe { kernel(&tile) };
        }
        Ok(())
    }

    /// Accumulates a tile with AMX.
    #[cfg(target_arch = "x86_64")]
    unsafe fn multiply_matrix(&mut self, panel: &Panel, rows: Range<usize>, weights: *const u8, sums: *mut i32) {
        let (product, first) = (self.product, rows.start);
        let depth = product.depth();
        let gathered = self.memory.gathered.as_ptr().wrapping_add((first - self.first_row) * depth);
        let direct = self.direct(first);
        let tile = crate::kernels::amx::Tile {
            rows: direct.unwrap_or(gathered),
            row_stride: if direct.is_some() { product.shape.pixel_stride } else { depth },
            blocks: depth / crate::kernels::amx::DEPTH,
            panel: weights,
            sums,
            stride: self.stride(),
        };
        if tile.blocks > 0 {
            // SAFETY: the caller guarantees valid operands; `gathered` has room for a register behind the last row.
            unsafe { crate::kernels::amx::compute(&tile, rows.len(), panel.vectors) };
        } else {
            // SAFETY: the accumulators of the tile have `rows * stride` elements.
            unsafe { tile.sums.write_bytes(0, rows.len() * tile.stride) };
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn multiply_matrix(&mut self, _: &Panel, _: Range<usize>, _: *const u8, _: *mut i32) {}

    /// Row stride of the accumulators, in elements.
    const fn stride(&self) -> usize {
        self.product.together * self.product.panels.width
    }

    /// Runs the epilogue of a tile for a range of panels in the same group.
    unsafe fn finish(&self, panels: Range<usize>, rows: Range<usize>) {
        let product = self.product;
        let (first, rows) = (rows.start, rows.len());
        let (panel, last) = (product.panels.get(panels.start), product.panels.get(panels.end - 1));
        let before = panels.start * product.panels.width;
        let column = panel.group * product.shape.columns + panel.column;
        let (added, added_stride, added_last) =
            self.operands.residual.map_or((Added::Nothing, 0, false), |residual| residual.parts(first, column));
        let (store, store_stride) = self.store;
        let to = first * store_stride + column;
        let row_scales = match self.operands.row_scales {
            [] => core::ptr::null(),
            scales => scales.as_ptr().wrapping_add(first),
        };
        let finish = Finish {
            sums: self.memory.sums,
            stride: self.stride(),
            rows,
            columns: last.column + last.columns - panel.column,
            factors: self.memory.factors.wrapping_add(before),
            addends: self.memory.addends.as_ptr().wrapping_add(first - self.first_row),
            scales: self.memory.scales.wrapping_add(before),
            bias: self.memory.bias.wrapping_add(before),
            row_scales,
            added,
            added_stride,
            added_last,
            activation: self.operands.activation,
            store: match store {
                Store::Bytes(start, quantization) => Store::Bytes(start.wrapping_add(to), quantization),
                Store::Floats(start) => Store::Floats(start.wrapping_add(to)),
            },
            store_stride,
        };
        // SAFETY: the caller upholds the contract of this function, and `is_available` checked the ISA.
        unsafe { (self.kernels.finish)(&finish) };
    }
}
