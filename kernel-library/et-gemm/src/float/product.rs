//! Products of `f32` with packed weights: sizes, packing, and computing any part of the work.
#![allow(unsafe_code, reason = "tiles are called with pointers whose bounds are checked here, once a call")]

use core::mem::MaybeUninit;
use core::ops::Range;

use et_core::{Error, Result};

use super::pack::{Weights, pack, panels};
use super::rows::{FLOAT, FloatKernels, FloatRow};
use super::tile::{Computed, Tile, TileKernel};
use super::winograd::Winograd;
use crate::activation::Activation;
use crate::isa::Isa;
use crate::output::Output;
use crate::panels::{Panel, Panels};
use crate::scratch::{self, Scratch};
use crate::shape::{Block, Grid, Runs, Shape};
use crate::window::Windows;

/// Bytes of windows that a strip of tiles reads before the next panel: what a second-level cache holds beside two panels.
const STRIP_BYTES: usize = 11 << 17;

/// Packed weights of at most so many bytes stay in the second-level cache: each tile goes through all of them, so that its
/// rows of the output are written while they are in the first-level cache.
const RESIDENT_BYTES: usize = 3 << 18;

/// Rows of the input and the output of at most so many bytes stay in the first-level cache while all panels go through them.
const CLOSE_BYTES: usize = 1 << 14;

/// Bytes from a row to the next that put all rows into the same set of a first-level cache.
const ALIASED: usize = 4096;

/// The most rows of a tile of such rows: what a set of twelve lines holds beside those of a panel. With fourteen, a product of 3072
/// elements took from 1.1 to 1.8 times as long on AMD's Zen 5.
const ALIASED_ROWS: usize = 10;

/// The most tiles of a strip.
const STRIP_TILES: usize = 16;

/// The most sums of a tile of any instruction set.
const MOST_SUMS: usize = {
    let (mut most, mut index) = (0, 0);
    while index < FLOAT.len() {
        let sums = FLOAT[index].height * FLOAT[index].width();
        most = if sums > most { sums } else { most };
        index += 1;
    }
    most
};

/// A tensor with the layout of the output that is added to it.
#[derive(Clone, Copy, Debug)]
pub struct Residual<'a, T> {
    /// Its elements.
    pub elements: &'a [T],
    /// Elements from a row to the next.
    pub stride: usize,
    /// Whether it is added after the activation.
    pub after: bool,
}

/// The operands of one execution, the same for all blocks.
#[derive(Clone, Copy, Debug)]
pub struct FloatOperands<'a> {
    /// Pixels of the input: rows of the left matrix.
    pub input: &'a [f32],
    /// What [`FloatProduct::pack`] wrote; best on a 64-byte boundary.
    pub weights: &'a [u8],
    /// What is applied to every element.
    pub activation: Activation,
    /// What is added to every element.
    pub residual: Option<Residual<'a, f32>>,
}

/// A product of `f32` of one shape by the kernels of one instruction set.
pub struct FloatProduct {
    shape: Shape,
    row: &'static FloatRow,
    panels: Panels,
    runs: Runs,
    /// How it is computed instead, where that is faster.
    winograd: Option<Winograd>,
    /// Whether the weights come from beyond the second-level cache, small as they may be.
    streams: bool,
}

impl FloatProduct {
    /// Fails if the shape contradicts itself. Any instruction set may be packed for on any machine.
    pub fn new(shape: Shape, isa: Isa) -> Result<Self> {
        shape.check()?;
        let row = FloatRow::of(isa);
        let winograd = Winograd::new(&shape, isa);
        Ok(Self { panels: panels(&shape, row), runs: shape.runs(), shape, row, winograd, streams: false })
    }

    /// The same product with weights that come from beyond the second-level cache.
    pub(super) fn streaming(self) -> Self {
        Self { streams: true, ..self }
    }

    /// Bytes of the packed weights.
    pub const fn packed_size(&self) -> usize {
        match &self.winograd {
            Some(winograd) => 4 * winograd.packed_size(self.row),
            None => 4 * self.panels.size(self.shape.groups),
        }
    }

    /// Packs weights and a bias, which may be empty. Fails unless lengths are those of the shape.
    #[inline]
    pub fn pack(&self, weights: &Weights<'_, f32>, bias: &[f32], packed: &mut [u8]) -> Result<()> {
        weights.check(&self.shape)?;
        let biased = bias.is_empty() || bias.len() == self.shape.all_columns();
        if !biased || packed.len() != self.packed_size() {
            return Err(Error::InvalidArgument);
        }
        match &self.winograd {
            Some(winograd) => winograd.pack(self.row, weights, bias, packed),
            None => pack(&self.shape, &self.panels, weights, bias, packed),
        }
        Ok(())
    }

    /// Writes packed weights for a product whose input has a factor for each channel. Fails unless a row of the product is a
    /// pixel of one group, and lengths are those of the shape.
    #[inline]
    pub fn scale(&self, packed: &[u8], factors: &[f32], scaled: &mut [u8]) -> Result<()> {
        let pixels = self.shape.is_pointwise() && self.shape.groups == 1 && factors.len() == self.shape.channels;
        if !pixels || [packed.len(), scaled.len()] != [self.packed_size(); 2] {
            return Err(Error::InvalidArgument);
        }
        for panel in (0..self.panels.per_group).map(|index| self.panels.get(index)) {
            let row = 4 * panel.vectors * self.row.lanes;
            let bytes = 4 * panel.start..4 * panel.start + row * self.panels.column_size;
            let rows = packed[bytes.clone()].chunks_exact(row).zip(scaled[bytes].chunks_exact_mut(row));
            // The first row is the bias.
            for ((from, to), factor) in rows.zip(core::iter::once(&1.0).chain(factors)) {
                for (from, to) in from.as_chunks::<4>().0.iter().zip(to.as_chunks_mut::<4>().0) {
                    *to = (f32::from_le_bytes(*from) * factor).to_le_bytes();
                }
            }
        }
        Ok(())
    }

    /// The work.
    pub const fn grid(&self) -> Grid {
        match &self.winograd {
            Some(winograd) => winograd.grid(),
            None => Grid::new(self.shape.rows(), self.height(), self.shape.groups * self.panels.per_group),
        }
    }

    /// The most rows of a tile.
    const fn height(&self) -> usize {
        let most = self.row.height_of(self.shape.rows());
        let step = size_of::<f32>() * self.shape.pixel_stride * self.shape.stride[1];
        if step.is_multiple_of(ALIASED) && most > ALIASED_ROWS { ALIASED_ROWS } else { most }
    }

    /// Bytes of scratch that each call needs.
    pub fn scratch_size(&self) -> usize {
        if let Some(winograd) = &self.winograd {
            return winograd.scratch_size();
        }
        let rows = self.strip() * self.height();
        scratch::total(&[
            scratch::part(self.padding(), 4),
            scratch::part(rows * self.runs.count, size_of::<*const f32>()),
            scratch::part(self.copied(rows), 4),
        ])
    }

    /// Elements from a window to the next, if there are kernels for tiles of such rows.
    const fn distance(&self) -> Option<usize> {
        match self.shape.stride[1] * self.shape.pixel_stride {
            distance @ (1 | 2) if self.runs.pixels > 1 => Some(distance),
            _ => None,
        }
    }

    /// Bytes from a line of windows to the next; any number does where there is none.
    const fn line_below(&self) -> usize {
        let Shape { input, stride, pixel_stride, .. } = &self.shape;
        stride[0].wrapping_mul(input[1]).wrapping_mul(*pixel_stride).wrapping_mul(4)
    }

    /// Elements of padding: a run of each row that is computed in one call, as far apart as windows are.
    fn padding(&self) -> usize {
        let rows = self.shape.output[1].min(STRIP_TILES * self.row.height);
        self.runs.length + rows * self.distance().unwrap_or(0)
    }

    /// Tiles that go through a panel before the next panel.
    const fn strip(&self) -> usize {
        let panels = self.shape.groups * self.panels.per_group;
        if panels == 1 || self.distance().is_some() {
            return STRIP_TILES;
        }
        let columns = self.shape.groups * self.shape.columns;
        let (bytes, tile) = if !self.streams && self.packed_size() <= RESIDENT_BYTES {
            (CLOSE_BYTES, self.shape.depth() + columns)
        } else {
            (STRIP_BYTES, self.shape.depth() + 1)
        };
        let tiles = bytes / (4 * self.height() * tile);
        let most = if self.runs.pixels > 1 { 4 } else { STRIP_TILES };
        if tiles == 0 {
            1
        } else if tiles < most {
            tiles
        } else {
            most
        }
    }

    /// Elements of the windows that may have to be copied for some rows.
    const fn copied(&self, rows: usize) -> usize {
        if self.runs.pixels > 1 { rows * self.shape.depth() } else { 0 }
    }

    /// Computes a block into the output. Fails if an operand, the output or the scratch is too short, or if this processor
    /// lacks the instructions.
    #[inline]
    pub fn compute(
        &self,
        operands: &FloatOperands<'_>,
        output: &mut Output<'_, f32>,
        block: Block,
        scratch: &mut [u8],
    ) -> Result<()> {
        let grid = self.grid();
        if block.is_empty() {
            return Ok(());
        }
        self.check(operands, output, &grid, block)?;
        let kernels = self.row.kernels.filter(|_| self.row.isa.is_available()).ok_or(Error::NotSupported)?;
        if let Some(winograd) = &self.winograd {
            // SAFETY: `check` held all operands against the block; the processor was asked.
            return unsafe { winograd.compute(kernels, operands, output, block, scratch) };
        }
        let mut scratch = Scratch::new(scratch)?;
        let padding = scratch.take::<f32>(self.padding())?;
        padding.fill(0.0);
        let rows = self.strip() * self.height();
        let table = scratch.take::<*const f32>(rows * self.runs.count)?.as_mut_ptr();
        let copies = scratch.take::<f32>(self.copied(rows))?.as_mut_ptr();
        let windows = Windows::new(&self.shape, self.runs, operands.input.as_ptr(), padding.as_ptr());
        let distance = self.distance();
        let mut strip = Strip {
            product: self,
            operands,
            windows,
            kernels,
            grid,
            table,
            copies,
            distance,
            together: [0; STRIP_TILES],
        };
        let (mut first, tiles) = (block.tiles[0], self.strip());
        while first < block.tiles[1] {
            let last = block.tiles[1].min(first + tiles);
            // SAFETY: `check` held all operands against the shape; the processor was asked.
            unsafe { strip.compute(output, [first, last], block.panels)? };
            first = last;
        }
        Ok(())
    }

    fn check(&self, operands: &FloatOperands<'_>, output: &Output<'_, f32>, grid: &Grid, block: Block) -> Result<()> {
        let whole = operands.input.len() >= self.shape.input_length()? && operands.weights.len() == self.packed_size();
        if !whole || !block.is_in(grid) {
            return Err(Error::InvalidArgument);
        }
        let rows = match &self.winograd {
            Some(winograd) => winograd.rows_of(block),
            None => grid.rows_of(block.tiles[0]).start..grid.rows_of(block.tiles[1] - 1).end,
        };
        let columns = self.columns(block);
        if let Some(residual) = operands.residual {
            let needed = (rows.end - 1).checked_mul(residual.stride).and_then(|start| start.checked_add(columns.end));
            if needed.is_none_or(|needed| needed > residual.elements.len()) {
                return Err(Error::InvalidArgument);
            }
        }
        output.check(rows, columns)
    }

    /// The columns of the output that a block makes.
    fn columns(&self, block: Block) -> Range<usize> {
        if self.winograd.is_some() {
            return 0..self.shape.columns;
        }
        let (first, last) = (self.panels.get(block.panels[0]), self.panels.get(block.panels[1] - 1));
        let start = |panel: &Panel| panel.group * self.shape.columns + panel.column;
        start(&first)..start(&last) + last.columns
    }
}

/// Some tiles of rows that go through panels together.
struct Strip<'a> {
    product: &'a FloatProduct,
    operands: &'a FloatOperands<'a>,
    windows: Windows<'a, f32>,
    kernels: &'static FloatKernels,
    grid: Grid,
    table: *mut *const f32,
    copies: *mut f32,
    /// Elements from a window to the next, if there are kernels for tiles of such rows.
    distance: Option<usize>,
    /// For each tile of the strip: how many even ones in a line begin here; none where it is computed by itself.
    together: [u8; STRIP_TILES],
}

/// The sums of a tile whose activation is yet to come.
#[repr(align(64))]
struct Sums(MaybeUninit<[f32; MOST_SUMS]>);

impl Strip<'_> {
    /// Computes tiles times panels.
    ///
    /// # Safety
    ///
    /// The operands and the output cover the block; the table and the copies take its rows.
    #[inline]
    unsafe fn compute(&mut self, output: &mut Output<'_, f32>, tiles: [usize; 2], panels: [usize; 2]) -> Result<()> {
        let mut group = None;
        for index in panels[0]..panels[1] {
            let panel = self.product.panels.get(index);
            if group != Some(panel.group) {
                group = Some(panel.group);
                // SAFETY: the caller's promise.
                unsafe { self.fill(panel.group, tiles) };
            }
            let mut call = self.call(&panel, tiles);
            let mut tile = tiles[0];
            while tile < tiles[1] {
                // SAFETY: the caller's promise, and `fill` wrote the table of these tiles.
                unsafe { self.tile(output, &panel, tile, tiles, &mut call)? };
                tile += call.tiles;
            }
        }
        Ok(())
    }

    /// Writes the table of all tiles, one tile after another.
    #[inline]
    unsafe fn fill(&mut self, group: usize, tiles: [usize; 2]) {
        if self.distance.is_some() {
            // SAFETY: the caller's promise.
            return unsafe { self.fill_even(group, tiles) };
        }
        for tile in tiles[0]..tiles[1] {
            // SAFETY: the caller's promise.
            unsafe { self.fill_tile(group, tile, tiles) };
        }
    }

    /// The same; of even tiles in a line, for the first of them.
    #[inline]
    unsafe fn fill_even(&mut self, group: usize, tiles: [usize; 2]) {
        let mut place = self.windows.place(self.grid.rows_of(tiles[0]).start);
        let mut even: Option<(usize, usize)> = None;
        for (index, tile) in (tiles[0]..tiles[1]).enumerate() {
            let count = self.grid.rows_of(tile).len();
            // SAFETY: a strip's rows fit the table and the copies, which have room for a window for each row; windows are no
            // farther apart than they are wide.
            unsafe {
                let table = self.table.add(self.pointers_before(tile, tiles));
                self.together[index] = 0;
                if count != self.product.row.height || !self.windows.is_line(place, count) {
                    self.fill_tile(group, tile, tiles);
                } else if !self.windows.is_even(place, count) {
                    self.together[index] = 1;
                    self.windows.fill_copied(group, place, count, table, self.copies_of(tile, tiles));
                } else if let Some((leader, _)) = even.filter(|(_, line)| *line == place.line) {
                    self.together[leader] += 1;
                } else {
                    (self.together[index], even) = (1, Some((index, place.line)));
                    self.windows.fill_first(group, place, table);
                }
            }
            place = self.windows.later(place, count);
        }
    }

    /// Writes the table of a tile.
    #[inline]
    unsafe fn fill_tile(&self, group: usize, tile: usize, tiles: [usize; 2]) {
        let table = self.table.wrapping_add(self.pointers_before(tile, tiles));
        // SAFETY: a strip's rows fit the table and the copies.
        unsafe { self.windows.fill(group, self.grid.rows_of(tile), table, self.copies_of(tile, tiles)) };
    }

    /// Room for the windows of a tile.
    fn copies_of(&self, tile: usize, tiles: [usize; 2]) -> *mut f32 {
        self.copies.wrapping_add(self.rows_before(tile, tiles) * self.product.shape.depth())
    }

    /// Pointers of the tiles of a strip before one.
    #[inline(always)]
    const fn pointers_before(&self, tile: usize, tiles: [usize; 2]) -> usize {
        self.rows_before(tile, tiles) * self.product.runs.count
    }

    /// Rows of the same.
    #[inline(always)]
    const fn rows_before(&self, tile: usize, tiles: [usize; 2]) -> usize {
        self.grid.rows_of(tile).start - self.grid.rows_of(tiles[0]).start
    }

    /// What the tiles of a panel have in common.
    #[inline(always)]
    fn call(&self, panel: &Panel, tiles: [usize; 2]) -> Tile {
        let product = self.product;
        let width = panel.vectors * product.row.lanes;
        let start = self.operands.weights.as_ptr().wrapping_add(4 * panel.start);
        let residual = self.operands.residual;
        Tile {
            runs: product.runs.count,
            length: product.runs.length,
            panel: start.cast(),
            residual_stride: residual.map_or(0, |residual| residual.stride),
            residual_last: residual.is_some_and(|residual| residual.after),
            ahead: start.wrapping_add(4 * width * product.panels.column_size),
            // Each tile of the strip brings its part of the next panel closer.
            ahead_step: (4 * width).div_ceil(tiles[1] - tiles[0]),
            below: product.line_below(),
            ..Tile::stored(core::ptr::null_mut(), 0, panel.columns, self.operands.activation)
        }
    }

    /// The kernel for a tile, or for even ones.
    #[inline(always)]
    fn kernel(&self, even: bool, rows: usize, vectors: usize) -> Option<TileKernel> {
        match self.distance.filter(|_| even) {
            Some(distance) => (self.kernels.even)(distance, vectors - 1),
            None => (self.kernels.tile)(rows - 1, vectors - 1),
        }
    }

    /// Tiles that are computed in one call: of as many rows, and with nothing to do after them.
    #[inline(always)]
    fn equal(&self, tile: usize, end: usize) -> usize {
        let single = self.distance.is_some() || !self.operands.activation.is_cheap();
        if single { 1 } else { self.grid.equal_from(tile).min(end - tile) }
    }

    /// Computes some tiles in one call: one, even ones in a line, or equal ones.
    #[inline(always)]
    unsafe fn tile(
        &mut self,
        output: &mut Output<'_, f32>,
        panel: &Panel,
        tile: usize,
        tiles: [usize; 2],
        call: &mut Tile,
    ) -> Result<()> {
        let product = self.product;
        let (rows, index) = (self.grid.rows_of(tile), tile - tiles[0]);
        let column = panel.group * product.shape.columns + panel.column;
        let even = self.together[index] > 0;
        let kernel = self.kernel(even, rows.len(), panel.vectors).ok_or(Error::Internal)?;
        call.tiles = if even { usize::from(self.together[index]) } else { self.equal(tile, tiles[1]) };
        call.table = self.table.wrapping_add(self.pointers_before(tile, tiles));
        (call.output, call.stride) = (output.at(rows.start, column), output.stride());
        if let Some(residual) = self.operands.residual {
            call.residual = residual.elements.as_ptr().wrapping_add(rows.start * residual.stride + column);
        }
        if self.operands.activation.is_cheap() {
            // SAFETY: the caller's promise.
            unsafe { kernel(call) };
        } else if call.tiles > 1 {
            // SAFETY: the caller's promise.
            unsafe {
                kernel(call);
                (self.kernels.finish)(call, Computed::in_output(call, call.tiles * rows.len()));
            }
        } else {
            let mut sums = Sums(MaybeUninit::uninit());
            let (start, stride) = (sums.0.as_mut_ptr().cast::<f32>(), panel.vectors * product.row.lanes);
            let output = core::mem::replace(&mut call.output, start);
            let output_stride = core::mem::replace(&mut call.stride, stride);
            // SAFETY: the caller's promise; there is room for the sums of a tile, and those that are read were written.
            unsafe {
                kernel(call);
                (call.output, call.stride) = (output, output_stride);
                (self.kernels.finish)(call, Computed { start, stride, rows: rows.len() });
            }
        }
        call.ahead = call.ahead.wrapping_add(call.tiles * call.ahead_step * product.shape.depth());
        Ok(())
    }
}
