//! Direct `f32` convolution with packed weights (implicit GEMM): sizes, packing, and computing a block of tiles.
#![allow(unsafe_code, reason = "tiles are called with pointers whose bounds are checked here, once a call")]

use core::mem::MaybeUninit;
use core::ops::Range;

use et_core::{Error, Result};
use et_simd::{Activation, Architecture, Isa};

use super::pack::{Weights, pack, panels};
use crate::kernels::float::{Computed, Epilogue, Tile};
use crate::kernels::{FloatKernels, KERNELS, KernelRow, Kernels, tile_of};
use crate::output::{Output, Residual};
use crate::panels::{Panel, Panels};
use crate::scratch::{self, Scratch};
use crate::shape::{Block, Grid, Runs, STRIP_TILES, Shape};
use crate::window::Windows;

/// L2 budget for the A rows of a strip (M block), next to two weight panels.
const STRIP_BYTES: usize = 11 << 17;

/// Packed weights up to this size stay in L2. Each tile then runs over every panel, so that the tile's output rows are
/// written while the rows are in L1.
const RESIDENT_BYTES: usize = 3 << 18;

/// L1 budget for the A and C rows of a strip whose weights stay in L2.
const CLOSE_BYTES: usize = 1 << 14;

/// Row stride in bytes at which every row maps to the same L1 set.
const ALIASED: usize = 4096;

/// MR for aliased rows: an L1 set of twelve lines holds ten row lines next to the panel's lines. With MR = 14, a GEMM
/// with K = 3072 took 1.1 to 1.8 times as long on AMD Zen 5.
const ALIASED_ROWS: usize = 10;

/// The maximum number of rows per tile, of `rows` rows that are `step` elements apart.
pub const fn height(row: &Kernels<FloatKernels>, rows: usize, step: usize) -> usize {
    let most = row.height_of(rows);
    if (size_of::<f32>() * step).is_multiple_of(ALIASED) && most > ALIASED_ROWS { ALIASED_ROWS } else { most }
}

/// The largest accumulator tile of any ISA, in elements.
const MOST_SUMS: usize = {
    let (mut most, mut index) = (0, 0);
    while index < KERNELS.len() {
        let sums = KERNELS[index].float.height * KERNELS[index].float.width();
        most = if sums > most { sums } else { most };
        index += 1;
    }
    most
};

/// Operands of an execution, shared by every block.
#[derive(Clone, Copy, Debug)]
pub struct FloatOperands<'a> {
    /// Pixels of the input: rows of A.
    pub input: &'a [f32],
    /// Weights packed by [`crate::FloatProduct::pack`]; 64-byte alignment is fastest.
    pub weights: &'a [u8],
    /// The activation of the epilogue.
    pub activation: Activation,
    /// The residual of the epilogue.
    pub residual: Option<Residual<'a, f32>>,
}

impl FloatOperands<'_> {
    /// Fails unless the operands have the lengths of a shape and of its packed weights, a block is in the grid, and residual
    /// and output have the rows and columns of the block.
    pub fn check(
        &self,
        (shape, packed_size): (&Shape, usize),
        output: &Output<'_, f32>,
        (grid, block): (&Grid, Block),
        (rows, columns): (Range<usize>, Range<usize>),
    ) -> Result<()> {
        let whole = self.input.len() >= shape.input_length()? && self.weights.len() == packed_size;
        if !whole || !block.is_in(grid) {
            return Err(Error::InvalidArgument);
        }
        self.residual.map_or(Ok(()), |residual| residual.check(&rows, &columns))?;
        output.check(&rows, &columns)
    }
}

/// A direct convolution of a fixed shape with the kernels of a fixed ISA.
pub struct Direct {
    shape: Shape,
    row: &'static Kernels<FloatKernels>,
    architecture: Architecture,
    panels: Panels,
    runs: Runs,
    /// Whether the weights are cold in L2 regardless of size.
    streams: bool,
}

impl Direct {
    /// Fails if the shape is inconsistent.
    pub fn new(shape: Shape, isa: Isa) -> Result<Self> {
        shape.check()?;
        let (row, architecture) = (&KernelRow::of(isa).float, isa.architecture());
        let panels = panels(&shape, architecture).read_by(row.panel());
        Ok(Self { panels, runs: shape.runs(), shape, row, architecture, streams: false })
    }

    /// The same GEMM for weights that are cold in L2.
    pub fn streaming(self) -> Self {
        Self { streams: true, ..self }
    }

    /// Size of the packed weights in bytes.
    pub const fn packed_size(&self) -> usize {
        4 * self.panels.size(self.shape.groups)
    }

    /// Packs validated weights and an optional bias (may be empty).
    #[inline]
    pub fn pack(&self, weights: &Weights<'_, f32>, bias: &[f32], packed: &mut [u8]) {
        pack(&self.shape, &panels(&self.shape, self.architecture), weights, bias, packed);
    }

    /// Folds per-channel input scales (squeeze-and-excite) into a copy of the packed weights. Fails unless the
    /// convolution is pointwise with a single group and the lengths match the shape.
    #[inline]
    pub fn scale(&self, packed: &[u8], factors: &[f32], scaled: &mut [u8]) -> Result<()> {
        let pixels = self.shape.is_pointwise() && self.shape.groups == 1 && factors.len() == self.shape.channels;
        if !pixels || [packed.len(), scaled.len()] != [self.packed_size(); 2] {
            return Err(Error::InvalidArgument);
        }
        let panels = panels(&self.shape, self.architecture);
        for panel in (0..panels.per_group).map(|index| panels.get(index)) {
            let row = 4 * panel.step;
            let bytes = 4 * panel.start..4 * panel.start + row * panels.column_size;
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

    /// The grid of tiles and panels.
    pub const fn grid(&self) -> Grid {
        Grid::new(self.shape.rows(), self.height(), self.shape.groups * self.panels.per_group)
    }

    /// The maximum number of rows per tile.
    const fn height(&self) -> usize {
        height(self.row, self.shape.rows(), self.shape.pixel_stride * self.shape.stride[1])
    }

    /// Scratch bytes per call.
    pub fn scratch_size(&self) -> usize {
        let rows = self.strip() * self.height();
        scratch::total(&[
            scratch::part(self.padding(), 4),
            scratch::part(rows * self.runs.count, size_of::<*const f32>()),
            scratch::part(self.shape.copied(rows), 4),
        ])
    }

    /// The uniform row stride in elements (1 or 2, NCHW input), if the ISA has a micro-kernel for the stride.
    const fn distance(&self) -> Option<usize> {
        match self.shape.stride[1] * self.shape.pixel_stride {
            distance @ (1 | 2) if self.runs.pixels > 1 => Some(distance),
            _ => None,
        }
    }

    /// Bytes between the receptive fields of vertically adjacent outputs. Only a prefetch offset, so that any value is
    /// safe.
    const fn line_below(&self) -> usize {
        let Shape { input, stride, pixel_stride, .. } = &self.shape;
        stride[0].wrapping_mul(input[1]).wrapping_mul(*pixel_stride).wrapping_mul(4)
    }

    /// Elements of the padding: a K segment, extended by the row stride times the rows of a micro-kernel call.
    fn padding(&self) -> usize {
        let rows = self.shape.output[1].min(STRIP_TILES * self.row.height);
        self.runs.length + rows * self.distance().unwrap_or(0)
    }

    /// Tiles that share a panel before the next panel (M block).
    fn strip(&self) -> usize {
        if self.shape.groups * self.panels.per_group == 1 || self.distance().is_some() {
            return STRIP_TILES;
        }
        let (budget, row) = if !self.streams && self.packed_size() <= RESIDENT_BYTES {
            (CLOSE_BYTES, self.shape.depth() + self.shape.all_columns())
        } else {
            (STRIP_BYTES, self.shape.depth() + 1)
        };
        self.runs.strip(budget, 4 * self.height() * row)
    }

    /// Computes a block of the output. Fails if an operand, the output or the scratch is too short, or if this CPU
    /// lacks the ISA.
    #[inline]
    pub fn compute(
        &self,
        operands: &FloatOperands<'_>,
        output: &mut Output<'_, f32>,
        block: Block,
        scratch: &mut [u8],
    ) -> Result<()> {
        let grid = self.grid();
        let place = (grid.rows_of_all(block.tiles), self.panels.columns_of(block.panels));
        operands.check((&self.shape, self.packed_size()), output, (&grid, block), place)?;
        let kernels = self.row.available()?;
        let mut scratch = Scratch::new(scratch)?;
        let padding = scratch.take::<f32>(self.padding())?;
        padding.fill(0.0);
        let rows = self.strip() * self.height();
        let table = scratch.take::<*const f32>(rows * self.runs.count)?.as_mut_ptr();
        let copies = scratch.take::<f32>(self.shape.copied(rows))?.as_mut_ptr();
        let windows = Windows::new(&self.shape, self.runs, operands.input.as_ptr(), padding.as_ptr());
        let (distance, together) = (self.distance(), [0; STRIP_TILES]);
        let mut strip = Strip { product: self, operands, windows, kernels, grid, table, copies, distance, together };
        let tiles = self.strip();
        for first in (block.tiles[0]..block.tiles[1]).step_by(tiles) {
            let last = block.tiles[1].min(first + tiles);
            // SAFETY: `check` validated every operand for the block, and `available` the ISA of the CPU.
            unsafe { strip.compute(output, [first, last], block.panels)? };
        }
        Ok(())
    }
}

/// A strip: an M block of several tiles that shares each weight panel.
struct Strip<'a> {
    product: &'a Direct,
    operands: &'a FloatOperands<'a>,
    windows: Windows<'a, f32>,
    kernels: &'static FloatKernels,
    grid: Grid,
    table: *mut *const f32,
    copies: *mut f32,
    /// The uniform row stride in elements, if the ISA has a micro-kernel for the stride.
    distance: Option<usize>,
    /// Per tile of the strip: the number of consecutive uniform-stride tiles of an output line that start here; zero
    /// for tiles addressed by the indirection buffer.
    together: [u8; STRIP_TILES],
}

/// Accumulators of a tile before the activation.
#[repr(align(64))]
struct Sums(MaybeUninit<[f32; MOST_SUMS]>);

impl Strip<'_> {
    /// Computes the tiles of a strip for a range of panels.
    ///
    /// # Safety
    ///
    /// Operands and output cover the block; indirection buffer and copies have room for the rows of the strip.
    #[inline]
    unsafe fn compute(&mut self, output: &mut Output<'_, f32>, tiles: [usize; 2], panels: [usize; 2]) -> Result<()> {
        let mut group = None;
        for index in panels[0]..panels[1] {
            let panel = self.product.panels.get(index);
            if group != Some(panel.group) {
                group = Some(panel.group);
                // SAFETY: the caller upholds the contract of this function.
                unsafe { self.fill(panel.group, tiles) };
            }
            let mut call = self.call(&panel, tiles);
            let mut tile = tiles[0];
            while tile < tiles[1] {
                // SAFETY: the caller guarantees valid operands, and `fill` wrote the indirection buffer of the tiles.
                unsafe { self.tile(output, &panel, tile, tiles, &mut call)? };
                tile += call.tiles;
            }
        }
        Ok(())
    }

    /// Fills the indirection buffer, tile by tile.
    #[inline]
    unsafe fn fill(&mut self, group: usize, tiles: [usize; 2]) {
        if self.distance.is_some() {
            // SAFETY: the caller upholds the contract of this function.
            return unsafe { self.fill_even(group, tiles) };
        }
        for tile in tiles[0]..tiles[1] {
            // SAFETY: the caller upholds the contract of this function.
            unsafe { self.fill_tile(group, tile, tiles) };
        }
    }

    /// Fills the indirection buffer for uniform row strides: consecutive tiles of an output line share the pointers of
    /// the first tile.
    #[inline]
    unsafe fn fill_even(&mut self, group: usize, tiles: [usize; 2]) {
        let mut place = self.windows.place(self.grid.rows_of(tiles[0]).start);
        let mut even: Option<(usize, usize)> = None;
        for (index, tile) in (tiles[0]..tiles[1]).enumerate() {
            let count = self.grid.rows_of(tile).len();
            // SAFETY: indirection buffer and copies have room for the rows of a strip, each with a receptive field; the
            // row stride is at most the width of a receptive field.
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

    /// Fills the indirection buffer of a tile.
    #[inline]
    unsafe fn fill_tile(&self, group: usize, tile: usize, tiles: [usize; 2]) {
        let table = self.table.wrapping_add(self.pointers_before(tile, tiles));
        // SAFETY: indirection buffer and copies have room for the rows of a strip.
        unsafe { self.windows.fill(group, self.grid.rows_of(tile), table, self.copies_of(tile, tiles)) };
    }

    /// The copy buffer for the receptive fields of a tile.
    fn copies_of(&self, tile: usize, tiles: [usize; 2]) -> *mut f32 {
        self.copies.wrapping_add(self.rows_before(tile, tiles) * self.product.shape.depth())
    }

    /// Offset of a tile in the indirection buffer of the strip.
    #[inline(always)]
    const fn pointers_before(&self, tile: usize, tiles: [usize; 2]) -> usize {
        self.rows_before(tile, tiles) * self.product.runs.count
    }

    /// Rows of the strip before a tile.
    #[inline(always)]
    const fn rows_before(&self, tile: usize, tiles: [usize; 2]) -> usize {
        self.grid.rows_of(tile).start - self.grid.rows_of(tiles[0]).start
    }

    /// Micro-kernel arguments that the tiles of a panel share.
    #[inline(always)]
    fn call(&self, panel: &Panel, tiles: [usize; 2]) -> Tile {
        let product = self.product;
        let at = |offset: usize| self.operands.weights.as_ptr().wrapping_add(4 * offset);
        let residual = self.operands.residual;
        Tile {
            runs: product.runs.count,
            length: product.runs.length,
            panel: at(panel.start).cast(),
            panel_stride: panel.step,
            halves: core::ptr::null(),
            epilogue: Epilogue {
                residual_stride: residual.map_or(0, |residual| residual.stride),
                residual_last: residual.is_some_and(|residual| residual.after),
                ..Epilogue::new(core::ptr::null_mut(), 0, panel.columns, self.operands.activation)
            },
            table: core::ptr::null(),
            tiles: 1,
            ahead: at(panel.next),
            // Each tile of the strip prefetches a share of the next panel.
            ahead_step: (4 * panel.step).div_ceil(tiles[1] - tiles[0]),
            below: product.line_below(),
        }
    }

    /// The micro-kernel for a tile, by indirection buffer or by uniform stride.
    #[inline(always)]
    fn kernel(&self, even: bool, rows: usize, vectors: usize) -> Result<unsafe fn(&Tile)> {
        match self.distance.filter(|_| even) {
            Some(distance) => tile_of(self.kernels.even, distance, vectors),
            None => tile_of(self.kernels.tiles, rows, vectors),
        }
    }

    /// Consecutive tiles of equal height for a single micro-kernel call; one tile if an epilogue follows.
    #[inline(always)]
    fn equal(&self, tile: usize, end: usize) -> usize {
        let single = self.distance.is_some() || !self.operands.activation.is_cheap();
        if single { 1 } else { self.grid.equal_from(tile).min(end - tile) }
    }

    /// Computes the tiles of a micro-kernel call: a single tile, a group of uniform-stride tiles in an output line, or
    /// a group of equal height.
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
        let kernel = self.kernel(even, rows.len(), panel.vectors)?;
        call.tiles = if even { usize::from(self.together[index]) } else { self.equal(tile, tiles[1]) };
        call.table = self.table.wrapping_add(self.pointers_before(tile, tiles));
        (call.epilogue.output, call.epilogue.stride) = (output.at(rows.start, column), output.stride());
        if let Some(residual) = self.operands.residual {
            call.epilogue.residual = residual.at(rows.start, column);
        }
        if self.operands.activation.is_cheap() {
            // SAFETY: the caller upholds the contract of this function.
            unsafe { kernel(call) };
        } else if call.tiles > 1 {
            // SAFETY: the caller upholds the contract of this function.
            unsafe {
                kernel(call);
                (self.kernels.finish)(&call.epilogue, call.epilogue.stored(call.tiles * rows.len()));
            }
        } else {
            let mut sums = Sums(MaybeUninit::uninit());
            let (start, stride) = (sums.0.as_mut_ptr().cast::<f32>(), panel.vectors * product.row.lanes);
            let epilogue = call.epilogue;
            call.epilogue = Epilogue { output: start, stride, ..epilogue };
            // SAFETY: the caller guarantees valid operands; `sums` has room for the tile, and the epilogue only reads
            // elements that the micro-kernel wrote.
            unsafe {
                kernel(call);
                call.epilogue = epilogue;
                (self.kernels.finish)(&epilogue, Computed { start, stride, rows: rows.len() });
            }
        }
        call.ahead = call.ahead.wrapping_add(call.tiles * call.ahead_step * product.shape.depth());
        Ok(())
    }
}
