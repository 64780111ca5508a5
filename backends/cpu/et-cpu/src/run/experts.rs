//! GEMMs of chosen experts. Rows are ordered by expert, so that a batch of rows reads the weights of its expert once; a single row, as in
//! decoding, is split by columns among threads.
#![allow(unsafe_code, reason = "tasks write disjoint parts of one result")]

use core::ops::Range;

use et_core::{Error, Plain, Result};
use et_gemm::scratch::{Scratch, part, total};
use et_gemm::{
    Activation, Block, BlockGemm, BlockOperands, FloatOperands, FloatProduct, Grid, HalfWeights, Int8Gemm,
    Int8Operands, Isa, Output, RowScale, Shape, WeightOnlyGemm, WeightOnlyOperands,
};

use crate::memory::Operands;
use crate::run::conv2d::{LEAST, activation, row_scales, weight_only_of};
use crate::split::{self, Chunks, Context, Elements, count};
use crate::{ALIGNMENT, Conv2d, ExpertGemm, Gemm};

/// The most rows of a batch: their inputs stay in the second-level cache.
const MOST_ROWS: usize = 32;
/// The parts of the columns of a single row.
const PARTS: usize = 4;

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, fields: &ExpertGemm) -> Result<()> {
    let sizes = Sizes::of(fields)?;
    let mut operands = context.memory.operands();
    let experts = operands.read::<i64>(fields.experts, sizes.rows)?;
    let layer = Layer {
        fields: &fields.gemm,
        isa: context.isa,
        weights: operands.read_all::<u8>(fields.gemm.weights.slot)?,
        packed_size: packed_size(&fields.gemm, sizes, context.isa)?,
        input: Input::read(fields, &sizes, &mut operands)?,
        activation: activation(&fields.gemm.epilogue.activation),
        sizes,
    };
    let order = operands.write::<u32>(*fields.order, ExpertGemm::order(sizes.rows, sizes.experts))?.slice();
    let order = Order::sort(experts, order, sizes)?;
    let output = operands.write::<f32>(fields.gemm.output.place, count(&[sizes.rows, sizes.columns])?)?;
    let output = Elements::new(&output);
    let work = count(&[sizes.rows, sizes.inner, sizes.columns])?;
    split::tasks(context, Chunks::new(context, work, LEAST), |task| {
        let units = task.range(sizes.rows * PARTS);
        order.batches().try_for_each(|batch| {
            let first = batch.first * PARTS;
            if batch.rows.len() > 1 {
                return if units.contains(&first) { layer.batch(&batch, &output, task.workspace) } else { Ok(()) };
            }
            let parts = units.start.max(first)..units.end.min(first + PARTS);
            parts.map(|unit| unit - first).try_for_each(|part| layer.row(&batch, part, &output, task.workspace))
        })
    })
}

/// The workspace size per thread, in bytes.
pub fn workspace(fields: &ExpertGemm, isa: Isa) -> usize {
    let Ok(sizes) = Sizes::of(fields) else { return 0 };
    let needed = |rows| {
        let scratch = Product::of(&fields.gemm, [rows, sizes.inner, sizes.columns], isa);
        let scales = size_of::<RowScale>().saturating_mul(fields.gemm.row_scales.blocks.max(1) as usize);
        let widths = [size_of::<f32>() * sizes.inner, scales, size_of::<f32>() * sizes.columns];
        let copies = total(&widths.map(|width| part(rows, width)));
        copies.saturating_add(scratch.map_or(0, |product| product.scratch_size()))
    };
    (1..=sizes.rows.min(MOST_ROWS)).map(needed).max().unwrap_or(0)
}

/// The sizes of an instruction.
#[derive(Clone, Copy)]
struct Sizes {
    /// Output rows: a row for each chosen expert of each token.
    rows: usize,
    inner: usize,
    columns: usize,
    experts: usize,
    /// Output rows that read the same input row.
    shared: usize,
}

impl Sizes {
    /// Fails unless the GEMM is one of whole contiguous rows, without a residual.
    fn of(fields: &ExpertGemm) -> Result<Self> {
        let gemm = &fields.gemm;
        let shape = gemm.window.shape(gemm.input.stride as usize).ok_or(Error::InvalidProgram)?;
        let (experts, chosen) = (fields.count as usize, fields.chosen as usize);
        let are_rows = shape.is_pointwise() && [shape.groups, shape.pixel_stride] == [1, shape.channels];
        let is_plain = !gemm.epilogue.residual.place.is_present() && !gemm.output_qparams.is_int8();
        let is_dynamic = gemm.gemm() != Some(Gemm::Int8) || gemm.row_scales.is_present();
        let is_dense = gemm.output.stride as usize == shape.columns && !gemm.channel_scales.is_present();
        let fits = experts > 0 && chosen > 0 && shape.rows().is_multiple_of(chosen);
        if !(are_rows && is_plain && is_dynamic && is_dense && fits) {
            return Err(Error::InvalidProgram);
        }
        let shared = if fields.is_shared { chosen } else { 1 };
        Ok(Self { rows: shape.rows(), inner: shape.channels, columns: shape.columns, experts, shared })
    }
}

/// Output rows in the order of their experts.
struct Order<'m> {
    rows: &'m [u32],
    /// Where the rows of each expert end.
    ends: &'m [u32],
}

/// Output rows of one expert.
struct Batch<'m> {
    expert: usize,
    /// The position of the first row in the order.
    first: usize,
    rows: &'m [u32],
}

impl<'m> Order<'m> {
    /// Sorts output rows by expert, by counting. Fails for a number that no expert has.
    fn sort(experts: &[i64], memory: &'m mut [u32], sizes: Sizes) -> Result<Self> {
        let (rows, ends) = memory.split_at_mut_checked(sizes.rows).ok_or(Error::InvalidProgram)?;
        ends.fill(0);
        let number = |expert: i64| usize::try_from(expert).map_err(|_| Error::InvalidArgument);
        for expert in experts {
            *ends.get_mut(number(*expert)?).ok_or(Error::InvalidArgument)? += 1;
        }
        // From the counts to where the rows of each expert begin; adding the rows leads to where they end.
        let mut sum = 0;
        for end in ends.iter_mut() {
            sum += core::mem::replace(end, sum);
        }
        for (row, expert) in (0..).zip(experts) {
            let next = ends.get_mut(number(*expert)?).ok_or(Error::InvalidArgument)?;
            *rows.get_mut(*next as usize).ok_or(Error::InvalidProgram)? = row;
            *next += 1;
        }
        Ok(Self { rows, ends })
    }

    /// The batches of at most [`MOST_ROWS`] rows, in order.
    fn batches(&self) -> impl Iterator<Item = Batch<'m>> {
        let begins = core::iter::once(&0).chain(self.ends);
        let experts = begins.zip(self.ends).enumerate();
        let rows = self.rows;
        experts.flat_map(move |(expert, (begin, end))| {
            let (begin, end) = (*begin as usize, *end as usize);
            (begin..end).step_by(MOST_ROWS).map(move |first| {
                let rows = rows.get(first..end.min(first + MOST_ROWS)).unwrap_or_default();
                Batch { expert, first, rows }
            })
        })
    }
}

/// Input rows: f32, or int8 with qparams of each row or of as many blocks of each row.
#[derive(Clone, Copy)]
enum Input<'m> {
    Floats(&'m [f32]),
    Bytes(&'m [i8], &'m [RowScale], usize),
}

impl<'m> Input<'m> {
    fn read(fields: &ExpertGemm, sizes: &Sizes, operands: &mut Operands<'m, '_, '_>) -> Result<Self> {
        let (place, rows) = (fields.gemm.input.place, sizes.rows / sizes.shared);
        let elements = count(&[rows, sizes.inner])?;
        Ok(match fields.gemm.row_scales.is_present() {
            true => {
                let (bytes, scales) = (operands.read(place, elements)?, row_scales(&fields.gemm, rows, operands)?);
                Self::Bytes(bytes, scales, fields.gemm.row_scales.blocks as usize)
            }
            false => Self::Floats(operands.read(place, elements)?),
        })
    }

    /// Consecutive rows.
    fn rows(self, rows: Range<usize>, inner: usize) -> Option<Self> {
        let elements = rows.start * inner..rows.end * inner;
        Some(match self {
            Self::Floats(floats) => Self::Floats(floats.get(elements)?),
            Self::Bytes(bytes, scales, blocks) => {
                Self::Bytes(bytes.get(elements)?, scales.get(rows.start * blocks..rows.end * blocks)?, blocks)
            }
        })
    }

    /// Rows by number, copied to the scratch.
    fn gather<'s>(
        self,
        rows: impl ExactSizeIterator<Item = usize> + Clone,
        inner: usize,
        scratch: &mut Scratch<'s>,
    ) -> Result<Input<'s>> {
        Ok(match self {
            Self::Floats(floats) => Input::Floats(gather(floats, rows, inner, scratch)?),
            Self::Bytes(bytes, scales, blocks) => {
                let bytes = gather(bytes, rows.clone(), inner, scratch)?;
                Input::Bytes(bytes, gather(scales, rows, blocks, scratch)?, blocks)
            }
        })
    }
}

fn gather<'s, T: Plain>(
    from: &[T],
    rows: impl ExactSizeIterator<Item = usize>,
    width: usize,
    scratch: &mut Scratch<'s>,
) -> Result<&'s [T]> {
    let to = scratch.take::<T>(rows.len() * width)?;
    for (row, to) in rows.zip(to.chunks_exact_mut(width.max(1))) {
        to.copy_from_slice(from.get(row * width..(row + 1) * width).ok_or(Error::InvalidProgram)?);
    }
    Ok(to)
}

/// The GEMM of an expert with a number of rows.
#[allow(clippy::large_enum_variant, reason = "one exists at a time, and the crate has no heap")]
enum Product {
    Float(FloatProduct),
    Int8(Int8Gemm),
    Blocks(BlockGemm),
    WeightOnly(WeightOnlyGemm),
}

impl Product {
    fn of(fields: &Conv2d, sizes: [usize; 3], isa: Isa) -> Result<Self> {
        let [rows, inner, columns] = sizes;
        let shape = Shape::product(rows, inner, columns);
        Ok(match (fields.gemm().ok_or(Error::InvalidProgram)?, fields.weights.form()?) {
            (Gemm::Float, _) => Self::Float(FloatProduct::new(shape, isa)?),
            (Gemm::Int8, _) => Self::Int8(Int8Gemm::new(shape, isa)?),
            (Gemm::Blocks, form) => Self::Blocks(BlockGemm::new(sizes, form.ok_or(Error::InvalidProgram)?, isa)?),
            (Gemm::WeightOnly, _) => Self::WeightOnly(weight_only_of(&fields.weights, sizes, isa)?),
        })
    }

    fn scratch_size(&self) -> usize {
        match self {
            Self::Float(product) => product.scratch_size(),
            Self::Int8(product) => product.scratch_size(),
            Self::Blocks(product) => product.scratch_size(),
            Self::WeightOnly(product) => product.scratch_size(),
        }
    }

    fn grid(&self) -> Grid {
        match self {
            Self::Float(product) => product.grid(),
            Self::Int8(product) => product.grid(),
            Self::Blocks(product) => product.grid(),
            Self::WeightOnly(product) => product.grid(),
        }
    }

    /// Computes a block of the output from the input rows and the packed weights of an expert.
    fn compute(
        &self,
        input: Input<'_>,
        (weights, activation): (&[u8], Activation),
        output: &mut Output<'_, f32>,
        block: Block,
        scratch: &mut [u8],
    ) -> Result<()> {
        match (self, input) {
            (Self::Float(product), Input::Floats(input)) => {
                product.compute(&FloatOperands { input, weights, activation, residual: None }, output, block, scratch)
            }
            (Self::WeightOnly(product), Input::Floats(input)) => {
                product.compute(&WeightOnlyOperands { input, weights, activation }, output, block, scratch)
            }
            (Self::Blocks(product), Input::Bytes(input, row_scales, _)) => {
                product.compute(&BlockOperands { input, row_scales, weights, activation }, output, block, scratch)
            }
            (Self::Int8(product), Input::Bytes(input, row_scales, _)) => {
                let operands = Int8Operands { input, zero_point: 0, row_scales, weights, activation, residual: None };
                product.compute_floats(&operands, output, block, scratch)
            }
            _ => Err(Error::InvalidProgram),
        }
    }
}

/// Bytes of the packed weights of an expert.
fn packed_size(fields: &Conv2d, Sizes { inner, columns, .. }: Sizes, isa: Isa) -> Result<usize> {
    if let Some(kind) = fields.weights.halves() {
        return Ok(HalfWeights::new([inner, columns], kind, isa)?.packed_size());
    }
    Ok(match (fields.gemm().ok_or(Error::InvalidProgram)?, fields.weights.form()?) {
        (Gemm::Float, _) => FloatProduct::new(Shape::product(1, inner, columns), isa)?.packed_size(),
        (_, Some(form)) => BlockGemm::new([1, inner, columns], form, isa)?.packed_size(),
        (_, None) => Int8Gemm::new(Shape::product(1, inner, columns), isa)?.packed_size(),
    })
}

/// The operands of an instruction.
struct Layer<'m> {
    fields: &'m Conv2d,
    isa: Isa,
    weights: &'m [u8],
    /// Bytes of the packed weights of an expert, without padding.
    packed_size: usize,
    input: Input<'m>,
    activation: Activation,
    sizes: Sizes,
}

impl Layer<'_> {
    fn product(&self, rows: usize) -> Result<Product> {
        Product::of(self.fields, [rows, self.sizes.inner, self.sizes.columns], self.isa)
    }

    /// The packed weights of an expert.
    fn weights(&self, expert: usize) -> Result<&[u8]> {
        let start = expert.checked_mul(self.packed_size.next_multiple_of(ALIGNMENT)).ok_or(Error::InvalidProgram)?;
        let end = start.checked_add(self.packed_size).ok_or(Error::InvalidProgram)?;
        self.weights.get(start..end).ok_or(Error::InvalidProgram)
    }

    /// A part of the columns of a single row.
    fn row(&self, batch: &Batch<'_>, part: usize, output: &Elements<f32>, workspace: &mut [u8]) -> Result<()> {
        let Sizes { inner, columns, shared, .. } = self.sizes;
        let row = batch.rows.first().copied().unwrap_or_default() as usize;
        let from = row / shared;
        let input = self.input.rows(from..from + 1, inner).ok_or(Error::InvalidProgram)?;
        let product = self.product(1)?;
        // SAFETY: the output has the row, and the parts of a row have different columns.
        let mut output = unsafe { Output::from_raw(output.start().add(row * columns), 1, columns, columns) };
        let weights = (self.weights(batch.expert)?, self.activation);
        product.compute(input, weights, &mut output, product.grid().part(part, PARTS), workspace)
    }

    /// All columns of the rows of a batch.
    fn batch(&self, batch: &Batch<'_>, output: &Elements<f32>, workspace: &mut [u8]) -> Result<()> {
        let Sizes { inner, columns, shared, .. } = self.sizes;
        let rows = batch.rows.iter().map(|row| *row as usize);
        let mut scratch = Scratch::new(workspace)?;
        let input = self.input.gather(rows.clone().map(|row| row / shared), inner, &mut scratch)?;
        let made = scratch.take::<f32>(rows.len() * columns)?;
        let product = self.product(rows.len())?;
        let mut computed = Output::new(made, rows.len(), columns, columns)?;
        let weights = (self.weights(batch.expert)?, self.activation);
        product.compute(input, weights, &mut computed, product.grid().all(), scratch.rest())?;
        for (row, made) in rows.zip(made.chunks_exact(columns.max(1))) {
            // SAFETY: the output has the row, which belongs to this batch alone.
            unsafe { output.part(row * columns..(row + 1) * columns) }.copy_from_slice(made);
        }
        Ok(())
    }
}
