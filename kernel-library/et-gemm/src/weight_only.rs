//! Weight-only GEMM with 16-bit weights, or with int8 or blockwise weights in the packed layout of the quantized GEMMs: a K block of a
//! panel is dequantized to an L1-resident buffer, from which the `f32` micro-kernel reads. Each packed byte is read
//! once per M block, in address order.
#![allow(unsafe_code, reason = "panels and tiles are passed on by pointer after their bounds are checked, once a call")]

use core::ops::Range;

use et_core::{Error, Result};
use et_simd::{Activation, Isa};

use crate::block::gemm::BlockGemm;
use crate::float::direct::height;
use crate::half_weights::HalfWeights;
use crate::int8::gemm::Int8Gemm;
use crate::int8::pack::{HEADER, Layout};
use crate::kernels::block_format::{BlockFormat, Scales};
use crate::kernels::float::{Epilogue, Tile};
use crate::kernels::halves::Halves;
use crate::kernels::unpack::{Format, Offset, Unpack};
use crate::kernels::{FloatKernels, KernelRow, Kernels, Tiles, tile_of};
use crate::output::Output;
use crate::panels::Panels;
use crate::scratch::{self, Scratch};
use crate::shape::{Block, Grid, Shape};

/// KC: K elements that are dequantized at a time. With the columns of a panel, those of a small M are half of L1, those of a large M are in
/// L2, where all tiles of a block read them.
const SMALL_DEPTH: usize = 128;
const DEPTH: usize = 512;

/// An upper bound for MR.
const MOST_ROWS: usize = 16;

/// Operands of an execution, shared by every block.
#[derive(Clone, Copy, Debug)]
pub struct WeightOnlyOperands<'a> {
    /// Contiguous `f32` rows.
    pub input: &'a [f32],
    /// Weights packed by [`Int8Gemm::pack`] (with `f32` bias or without bias), [`BlockGemm::pack`] or [`HalfWeights::pack`].
    pub weights: &'a [u8],
    /// The activation of the epilogue.
    pub activation: Activation,
}

/// A weight-only GEMM of a fixed shape with the kernels of a fixed ISA.
pub struct WeightOnlyGemm {
    rows: usize,
    inner: usize,
    form: Form,
    row: &'static Kernels<FloatKernels>,
}

/// The packed format of the weights.
#[allow(clippy::large_enum_variant, reason = "a layer has one, and the crate has no heap")]
enum Form {
    Bytes(Int8Gemm),
    Blocks(BlockGemm),
    Halves(HalfWeights),
}

/// The columns of a tile within a panel.
struct Part {
    /// Byte offset of the panel.
    start: usize,
    /// Columns of the panel, padding included.
    width: usize,
    /// The first column, within the panel and within the output.
    column: [usize; 2],
    /// Columns without padding.
    columns: usize,
    vectors: usize,
}

/// Where the micro-kernels of a tile read weights.
struct Source {
    /// The micro-kernels.
    tiles: Tiles<Tile>,
    /// The bias row, and `f32` weights behind it.
    panel: *const f32,
    /// Row stride of the weights, in elements.
    stride: usize,
    /// 16-bit weights, or null.
    halves: *const u16,
}

impl WeightOnlyGemm {
    /// A GEMM of M = `rows`, K = `inner`, N = `columns` with int8 weights.
    pub fn bytes([rows, inner, columns]: [usize; 3], isa: Isa) -> Result<Self> {
        let form = Form::Bytes(Int8Gemm::new(Shape::product(rows, inner, columns), isa)?);
        Ok(Self { rows, inner, form, row: &KernelRow::of(isa).float })
    }

    /// A GEMM of M = `rows`, K = `inner`, N = `columns` with blockwise weights. Fails as [`BlockGemm::new`].
    pub fn blocks([rows, inner, columns]: [usize; 3], form: BlockFormat, isa: Isa) -> Result<Self> {
        let form = Form::Blocks(BlockGemm::new([rows, inner, columns], form, isa)?);
        Ok(Self { rows, inner, form, row: &KernelRow::of(isa).float })
    }

    /// A GEMM of M = `rows`, K = `inner`, N = `columns` with 16-bit weights.
    pub fn halves([rows, inner, columns]: [usize; 3], kind: Halves, isa: Isa) -> Result<Self> {
        Shape::product(rows, inner, columns).check()?;
        let form = Form::Halves(HalfWeights::new([inner, columns], kind, isa)?);
        Ok(Self { rows, inner, form, row: &KernelRow::of(isa).float })
    }

    /// The grid of tiles and panels.
    pub const fn grid(&self) -> Grid {
        Grid::new(self.rows, height(self.row, self.rows, self.inner), self.panels().0.per_group)
    }

    /// The packed panels, and the bytes of their unit of size.
    const fn panels(&self) -> (&Panels, usize) {
        match &self.form {
            Form::Bytes(bytes) => (&bytes.panels, 4),
            Form::Blocks(blocks) => (&blocks.panels, 1),
            Form::Halves(halves) => (&halves.panels, 1),
        }
    }

    /// KC.
    const fn depth(&self) -> usize {
        if Kernels::is_small(self.rows) { SMALL_DEPTH } else { DEPTH }
    }

    /// Scratch bytes per call.
    pub const fn scratch_size(&self) -> usize {
        scratch::total(&[scratch::part((1 + self.depth()) * self.row.width(), 4)])
    }

    /// Computes a block of the output. Fails if an operand, the output or the scratch is too short, or if this CPU
    /// lacks the ISA.
    #[inline]
    pub fn compute(
        &self,
        operands: &WeightOnlyOperands<'_>,
        output: &mut Output<'_, f32>,
        block: Block,
        scratch: &mut [u8],
    ) -> Result<()> {
        let grid = self.grid();
        if block.is_empty() {
            return Ok(());
        }
        let (panels, unit) = self.panels();
        let size = unit * panels.size(1);
        if operands.input.len() != self.rows * self.inner || operands.weights.len() != size || !block.is_in(&grid) {
            return Err(Error::InvalidArgument);
        }
        output.check(&grid.rows_of_all(block.tiles), &panels.columns_of(block.panels))?;
        let kernels = self.row.available()?;
        let memory = Scratch::new(scratch)?.take::<f32>((1 + self.depth()) * self.row.width())?.as_mut_ptr();
        for panel in block.panels[0]..block.panels[1] {
            for part in self.parts(panel) {
                if let Some(source) = self.packed(kernels, operands.weights, &part) {
                    // SAFETY: operands and output are validated for the block.
                    unsafe {
                        self.multiply(kernels, (operands, &source), output, (&part, block.tiles), 0..self.inner)?;
                    }
                    continue;
                }
                let (tiles, stride) = (kernels.tiles, part.vectors * self.row.lanes);
                let source = Source { tiles, panel: memory, stride, halves: core::ptr::null() };
                for first in (0..self.inner.max(1)).step_by(self.depth()) {
                    let depth = first..self.inner.min(first + self.depth());
                    // SAFETY: operands and output are validated for the block, and `memory` has `(1 + depth) * width`
                    // elements.
                    unsafe {
                        self.unpack(kernels, operands.weights, &part, depth.clone(), memory);
                        self.multiply(kernels, (operands, &source), output, (&part, block.tiles), depth)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Splits a panel into tiles of NR columns.
    fn parts(&self, panel: usize) -> impl Iterator<Item = Part> + use<> {
        let (lanes, most) = (self.row.lanes, self.row.width());
        let (panels, unit) = self.panels();
        let panel = panels.get(panel);
        let (start, width) = (unit * panel.start, panel.step);
        (0..panel.columns).step_by(most).map(move |column| {
            let columns = (panel.columns - column).min(most);
            Part { start, width, column: [column, panel.column + column], columns, vectors: columns.div_ceil(lanes) }
        })
    }

    /// Writes a bias row and the dequantized K rows `elements` of the tile's columns.
    ///
    /// # Safety
    ///
    /// The packed weights hold the part; `to` has room for the rows.
    #[inline]
    unsafe fn unpack(&self, kernels: &FloatKernels, weights: &[u8], part: &Part, elements: Range<usize>, to: *mut f32) {
        let panel = weights.as_ptr().wrapping_add(part.start);
        let (width, column) = (part.vectors * self.row.lanes, part.column[0]);
        let bias = match &self.form {
            Form::Bytes(_) | Form::Halves(_) => Some(panel),
            Form::Blocks(blocks) => blocks.form.is_biased.then(|| panel.wrapping_add(4 * part.width)),
        };
        let bias = bias.filter(|_| elements.start == 0);
        let to_rows = to.wrapping_add(width);
        let offset = match Layout::of(self.row.isa.architecture()).offset {
            0 => Offset::None,
            _ => Offset::Half,
        };
        // SAFETY: the caller upholds the contract of this function.
        unsafe {
            for lane in 0..width {
                let from = |bias: *const u8| bias.cast::<f32>().add(column + lane).read_unaligned();
                to.add(lane).write(bias.map_or(0.0, from));
            }
            match &self.form {
                Form::Bytes(_) => (kernels.unpack)(&Unpack {
                    format: Format::Int8(offset),
                    words: panel.add((4 * HEADER + elements.start) * part.width + 4 * column),
                    step: 4 * part.width,
                    count: elements.len().div_ceil(4),
                    vectors: part.vectors,
                    scales: [panel.add(4 * (part.width + column)), core::ptr::null()],
                    units: [core::ptr::null(); 2],
                    to: to_rows,
                }),
                Form::Halves(halves) => (kernels.unpack)(&Unpack {
                    format: Format::Halves(halves.kind),
                    words: panel.add((4 + 2 * elements.start) * part.width + 2 * column),
                    step: 2 * part.width,
                    count: elements.len(),
                    vectors: part.vectors,
                    scales: [core::ptr::null(); 2],
                    units: [core::ptr::null(); 2],
                    to: to_rows,
                }),
                Form::Blocks(blocks) => {
                    let form = blocks.form;
                    let mut first = elements.start;
                    while first < elements.end {
                        let (group, within) = (first / form.group, first % form.group);
                        let count = (form.group - within).min(elements.end - first);
                        let (step, bytes) = (form.width.step(), form.width.bytes());
                        let at = form.elements_at(group) + within / step * bytes;
                        let words = panel.add(at * part.width + 4 * column);
                        let set = |set: usize| set * form.set() * part.width;
                        let scales = form.scale_at(group) * part.width + form.scales.size() * column;
                        let units = match form.scales {
                            Scales::SuperBlocks => form.set_at(group),
                            _ => form.header() - 4,
                        };
                        let units = units * part.width + 4 * column;
                        (kernels.unpack)(&Unpack {
                            format: Format::Blocks(form, offset),
                            words,
                            step: 4 * part.width,
                            count: count / step * bytes / 4,
                            vectors: part.vectors,
                            scales: [0, 1].map(|index| panel.wrapping_add(scales + set(index))),
                            units: [0, 1].map(|index| panel.wrapping_add(units + set(index)).cast()),
                            to: to_rows.add((first - elements.start) * width),
                        });
                        first += count;
                    }
                }
            }
        }
    }

    /// Where micro-kernels of few rows read the 16-bit weights of a part; `None` where weights are unpacked first.
    fn packed(&self, kernels: &FloatKernels, weights: &[u8], part: &Part) -> Option<Source> {
        let Form::Halves(halves) = &self.form else { return None };
        let (panel, column) = (weights.as_ptr().wrapping_add(part.start), part.column[0]);
        let tiles = match halves.kind {
            Halves::Bf16 => kernels.bf16,
            Halves::Fp16 => kernels.fp16,
        };
        Kernels::is_small(self.rows).then_some(Source {
            tiles,
            panel: panel.wrapping_add(4 * column).cast(),
            stride: part.width,
            halves: panel.wrapping_add(4 * part.width + 2 * column).cast(),
        })
    }

    /// Accumulates a K block into the output.
    ///
    /// # Safety
    ///
    /// Operands and output cover tiles and part; `source` holds the K block of the part.
    #[inline]
    unsafe fn multiply(
        &self,
        kernels: &FloatKernels,
        (operands, source): (&WeightOnlyOperands<'_>, &Source),
        output: &mut Output<'_, f32>,
        (part, tiles): (&Part, [usize; 2]),
        elements: Range<usize>,
    ) -> Result<()> {
        let (grid, is_last) = (self.grid(), elements.end == self.inner);
        for tile in tiles[0]..tiles[1] {
            let rows = grid.rows_of(tile);
            let mut table = [core::ptr::null(); MOST_ROWS];
            for (row, pointer) in rows.clone().zip(&mut table) {
                *pointer = operands.input.as_ptr().wrapping_add(row * self.inner + elements.start);
            }
            let kernel = tile_of(source.tiles, rows.len(), part.vectors)?;
            let to = output.at(rows.start, part.column[1]);
            let before = if elements.start == 0 { core::ptr::null() } else { to.cast_const() };
            let activation = if is_last { operands.activation } else { Activation::None };
            let epilogue = Epilogue::new(to, output.stride(), part.columns, activation);
            let call = Tile {
                table: table.as_ptr(),
                runs: 1,
                length: elements.len(),
                panel: source.panel,
                panel_stride: source.stride,
                halves: source.halves,
                epilogue: Epilogue { residual: before, residual_stride: output.stride(), ..epilogue },
                ahead: core::ptr::null(),
                ahead_step: 0,
                below: 0,
                tiles: 1,
            };
            // SAFETY: the caller guarantees that operands and output cover the tile. The micro-kernel reads the
            // residual rows, which alias the output, before the store.
            unsafe { kernel(&call) };
            if !activation.is_cheap() {
                // SAFETY: the tile above is stored in the output.
                unsafe { (kernels.finish)(&epilogue, epilogue.stored(rows.len())) };
            }
        }
        Ok(())
    }
}
