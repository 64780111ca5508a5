//! Two fused GEMMs, the second on the output of the first: computed in bands of rows, so that the intermediate tensor stays in the
//! cache of the core that computes the band.
#![allow(unsafe_code, reason = "tasks write disjoint rows of one result")]

use core::ops::Range;

use et_core::{Error, Result};
use et_gemm::{Activation, FloatOperands, FloatProduct, Isa, Output, Residual, Shape};
use et_kernels::normalize::{Normalization, normalize};
use et_simd::Level;

use crate::memory::Operands;
use crate::run::attention::numbers;
use crate::run::conv2d::{LEAST, activation, rectangles, residual, shape_of, work};
use crate::run::rows::normalization;
use crate::split::{self, Chunks, Context, Elements, Rectangle};
use crate::{Conv2d, FusedMlp, Gemm, Rows};

/// The minimum rows of a band: a GEMM with fewer rows accumulates in another order.
const FEWEST: usize = 16;

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, fields: &FusedMlp) -> Result<()> {
    let shapes = shapes(fields)?;
    let [first, second] = &shapes;
    let input = Rectangle { place: source(fields), rows: first.rows(), columns: first.channels };
    let output = Rectangle { place: *fields.second.output, rows: second.rows(), columns: second.columns };
    let mut operands = context.memory.operands();
    let pair = Pair {
        isa: context.isa,
        level: context.level,
        input: input.read(&mut operands)?,
        normalization: match is_normalized(fields) {
            true => Some(normalization(&fields.normalize, &mut operands)?),
            false => None,
        },
        first: Stage::new(&fields.first, *first, &mut operands)?,
        second: Stage::new(&fields.second, *second, &mut operands)?,
    };
    let elements = Elements::new(&operands.write::<f32>(output.place.place, output.span()?)?);
    let chunks = Chunks::new(context, work(first).saturating_add(work(second)), LEAST);
    let bands = bands(first, chunks.threads());
    split::tasks(context, chunks, |task| {
        task.range(bands).try_for_each(|band| {
            let rows = output.rows * band / bands..output.rows * (band + 1) / bands;
            // SAFETY: `elements` is the only access to the output tensor, and bands have disjoint rows.
            let written = unsafe { elements.part(rows.start * output.columns..rows.end * output.columns) };
            pair.compute(rows, written, task.workspace)
        })
    })
}

/// The workspace size per thread, in bytes.
pub fn workspace(fields: &FusedMlp, isa: Isa) -> usize {
    let Ok([first, second]) = shapes(fields) else { return 0 };
    // The rows of a band differ between sizes: fewer rows in all may be a larger band.
    let rows = first.rows().min(FusedMlp::most_rows(first.columns).max(2 * FEWEST));
    let between = Parts::of(rows, &first, is_normalized(fields)).size();
    // A GEMM with fewer rows may need more scratch because its tile shape differs; so the maximum over all row counts counts.
    let scratch = |shape: &Shape| {
        let needed = |rows| planned(shape, rows, isa).map_or(0, |planned| planned.scratch_size());
        (FEWEST.min(rows)..=rows).map(needed).max().unwrap_or(0)
    };
    between.saturating_add(scratch(&first).max(scratch(&second)))
}

/// The shapes of both GEMMs, by their input rows. Fails unless M is equal, and N of the first GEMM is K of the second.
fn shapes(fields: &FusedMlp) -> Result<[Shape; 2]> {
    let first = shape_of(&fields.first.window, source(fields))?;
    let second = shape_of(&fields.second.window, fields.second.input)?;
    let are_rows = [&first, &second].into_iter().all(|shape| shape.groups == 1 && shape.is_pointwise());
    let fit = [first.columns; 2] == [second.channels, second.pixel_stride] && first.rows() == second.rows();
    let normalize = &fields.normalize;
    let sizes = [normalize.rows as usize, normalize.columns as usize, first.pixel_stride];
    let normalized = !is_normalized(fields) || sizes == [first.rows(), first.channels, first.channels];
    let is_dense = fields.second.output.stride as usize == second.columns;
    let is_plain = |gemm: &Conv2d| gemm.gemm() == Some(Gemm::Float) && !gemm.channel_scales.is_present();
    let are_plain = [&fields.first, &fields.second].into_iter().all(is_plain);
    if are_rows && fit && normalized && is_dense && are_plain {
        Ok([first, second])
    } else {
        Err(Error::InvalidProgram)
    }
}

const fn is_normalized(fields: &FusedMlp) -> bool {
    fields.normalize.input.place.is_present()
}

/// The input matrix of the fused operators.
const fn source(fields: &FusedMlp) -> Rows {
    if is_normalized(fields) { fields.normalize.input } else { fields.first.input }
}

/// The number of bands: those that fit the cache, rounded up to equal shares of the threads.
fn bands(first: &Shape, threads: usize) -> usize {
    let (rows, columns) = (first.rows(), first.columns);
    let most = (rows / FEWEST).max(1);
    FusedMlp::bands(rows, columns).clamp(1, most).next_multiple_of(threads.max(1)).min(most)
}

/// The GEMM of a band with `rows` rows.
fn planned(shape: &Shape, rows: usize, isa: Isa) -> Result<FloatProduct> {
    FloatProduct::new(
        Shape { pixel_stride: shape.pixel_stride, ..Shape::product(rows, shape.channels, shape.columns) },
        isa,
    )
}

/// The elements of the intermediate tensors of a band, at the start of a thread's workspace.
struct Parts {
    normalized: usize,
    hidden: usize,
}

impl Parts {
    const fn of(rows: usize, first: &Shape, is_normalized: bool) -> Self {
        let normalized = if is_normalized { lines(rows, first.channels) } else { 0 };
        Self { normalized, hidden: lines(rows, first.columns) }
    }

    /// Bytes of both intermediate tensors.
    const fn size(&self) -> usize {
        self.normalized.saturating_add(self.hidden).saturating_mul(size_of::<f32>())
    }
}

/// The elements of a matrix, rounded up to a cache line.
const fn lines(rows: usize, columns: usize) -> usize {
    rows.saturating_mul(columns).div_ceil(16).saturating_mul(16)
}

/// One of the two GEMMs.
struct Stage<'m> {
    shape: Shape,
    weights: &'m [u8],
    activation: Activation,
    residual: Option<Residual<'m, f32>>,
}

impl<'m> Stage<'m> {
    fn new(gemm: &Conv2d, shape: Shape, operands: &mut Operands<'m, '_, '_>) -> Result<Self> {
        let (_, output) = rectangles(&shape, gemm.input, *gemm.output);
        Ok(Self {
            shape,
            weights: operands.read_all::<u8>(gemm.weights.slot)?,
            activation: activation(&gemm.epilogue.activation),
            residual: residual(&gemm.epilogue, &output, operands)?,
        })
    }

    /// Computes a band of output rows; `input` begins with the first row of the band.
    fn compute(
        &self,
        isa: Isa,
        input: &[f32],
        rows: &Range<usize>,
        output: &mut [f32],
        scratch: &mut [u8],
    ) -> Result<()> {
        let planned = planned(&self.shape, rows.len(), isa)?;
        let residual = self.residual.map(|whole| Residual {
            elements: whole.elements.get(rows.start * whole.stride..).unwrap_or_default(),
            ..whole
        });
        let operands = FloatOperands { input, weights: self.weights, activation: self.activation, residual };
        let mut output = Output::new(output, rows.len(), self.shape.columns, self.shape.columns)?;
        planned.compute(&operands, &mut output, planned.grid().all(), scratch)
    }
}

/// The two fused GEMMs.
struct Pair<'m> {
    isa: Isa,
    level: Level,
    input: &'m [f32],
    normalization: Option<Normalization<'m>>,
    first: Stage<'m>,
    second: Stage<'m>,
}

impl Pair<'_> {
    /// Computes a band of output rows.
    fn compute(&self, rows: Range<usize>, output: &mut [f32], workspace: &mut [u8]) -> Result<()> {
        let shape = &self.first.shape;
        let parts = Parts::of(rows.len(), shape, self.normalization.is_some());
        let (between, scratch) = workspace.split_at_mut_checked(parts.size()).ok_or(Error::InvalidProgram)?;
        let between = numbers(between);
        let (normalized, hidden) = between.split_at_mut_checked(parts.normalized).ok_or(Error::InvalidProgram)?;
        let input = self.input.get(rows.start * shape.pixel_stride..).ok_or(Error::InvalidProgram)?;
        let source = match &self.normalization {
            Some(normalization) => {
                let count = rows.len() * shape.channels;
                let (input, normalized) = (input.get(..count), normalized.get_mut(..count));
                let (input, normalized) = input.zip(normalized).ok_or(Error::InvalidProgram)?;
                normalize(self.level, input, normalization, normalized, shape.channels)?;
                &*normalized
            }
            None => input,
        };
        self.first.compute(self.isa, source, &rows, hidden, scratch)?;
        self.second.compute(self.isa, hidden, &rows, output, scratch)
    }
}
