//! Convolutions and products of bytes with packed bytes.
#![allow(unsafe_code, reason = "tasks write disjoint rectangles of one result")]

use et_core::{Error, Result};
use et_gemm::{Activation, ByteOperands, ByteProduct, ByteResidual, Isa, Output, Quantization, Residual, RowScale};

use crate::memory::{Operands, Plain};
use crate::run::Context;
use crate::run::product::{LEAST, activation, span};
use crate::split::{self, Elements, Task};
use crate::{Numbers, QuantizedProduct, Rows, byte_isa, shape};

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, product: &QuantizedProduct) -> Result<()> {
    let job = Job::new(context, product)?;
    if job.fields.numbers.are_bytes() {
        let quantization = quantization(product)?;
        job.run::<i8>(|operands, output, block, workspace| {
            job.planned.compute(operands, quantization, output, block, workspace)
        })
    } else {
        job.run::<f32>(|operands, output, block, workspace| {
            job.planned.compute_floats(operands, output, block, workspace)
        })
    }
}

/// The bytes of its own memory that a thread needs.
pub fn workspace(product: &QuantizedProduct, isa: Isa) -> usize {
    planned(product, isa).map_or(0, |planned| planned.scratch_size())
}

fn planned(product: &QuantizedProduct, isa: Isa) -> Result<ByteProduct> {
    let shape = shape(&product.window, product.input.stride as usize).ok_or(Error::InvalidProgram)?;
    ByteProduct::new(shape, byte_isa(isa))
}

/// An instruction and its sizes.
struct Job<'j, 'r, 'a, 'c> {
    context: &'j Context<'r, 'a, 'c>,
    fields: &'j QuantizedProduct,
    planned: ByteProduct,
    /// Rows and columns of the result, and the pixels and channels that are read.
    sizes: [usize; 4],
    /// Multiplications for an element.
    depth: usize,
}

impl<'j, 'r, 'a, 'c> Job<'j, 'r, 'a, 'c> {
    fn new(context: &'j Context<'r, 'a, 'c>, fields: &'j QuantizedProduct) -> Result<Self> {
        let planned = planned(fields, context.isa)?;
        let shape = shape(&fields.window, fields.input.stride as usize).ok_or(Error::InvalidProgram)?;
        let pixels = shape.batch * shape.input[0] * shape.input[1];
        let sizes = [shape.rows(), shape.all_columns(), pixels, shape.groups * shape.channels];
        Ok(Self { context, fields, planned, sizes, depth: shape.depth() })
    }

    /// Computes all blocks, each by `compute`.
    fn run<T: Plain>(
        &self,
        compute: impl Fn(&ByteOperands<'_>, &mut Output<'_, T>, et_gemm::Block, &mut [u8]) -> Result<()> + Sync,
    ) -> Result<()> {
        let [rows, columns, pixels, channels] = self.sizes;
        let mut operands = self.context.memory.operands();
        let read = ByteOperands {
            input: operands.read(self.fields.input.place, span(pixels, self.fields.input, channels)?)?,
            zero_point: byte(self.fields.input_zero)?,
            row_scales: self.row_scales(&mut operands)?,
            weights: operands.read_all::<u8>(self.fields.weights)?,
            activation: limited(self.fields)?,
            residual: self.residual(&mut operands)?,
        };
        let written = operands.write::<T>(self.fields.output.place, span(rows, self.fields.output, columns)?)?;
        let (grid, stride) = (self.planned.grid(), self.fields.output.stride as usize);
        if !split::are_apart([(rows, stride), (columns, 1)]) {
            return Err(Error::InvalidProgram);
        }
        // A byte takes a quarter of the time of a float.
        let work = rows.saturating_mul(columns).saturating_mul(self.depth);
        let parts = split::parts(self.context, work, 4 * LEAST);
        let elements = Elements::new(&written);
        split::tasks(self.context, parts, |Task { index, workspace }| {
            // SAFETY: `written` is the only access to these rows, and blocks of a grid are disjoint.
            let mut output = unsafe { Output::from_raw(elements.start(), rows, columns, stride) };
            compute(&read, &mut output, grid.part(index, parts), workspace)
        })
    }

    /// The scales of rows that were quantized at run time; none for others.
    fn row_scales<'m>(&self, operands: &mut Operands<'m, '_, '_>) -> Result<&'m [RowScale]> {
        let place = self.fields.row_scales;
        if place.is_present() { operands.read(place, self.sizes[0]) } else { Ok(&[]) }
    }

    fn residual<'m>(&self, operands: &mut Operands<'m, '_, '_>) -> Result<Option<ByteResidual<'m>>> {
        let Rows { place, stride } = self.fields.residual;
        if !place.is_present() {
            return Ok(None);
        }
        let [rows, columns, ..] = self.sizes;
        let count = span(rows, self.fields.residual, columns)?;
        let (stride, after) = (stride as usize, self.fields.residual_last == 1);
        let Numbers { scale, zero_point } = self.fields.residual_numbers;
        Ok(Some(if self.fields.residual_numbers.are_bytes() {
            let scale = if self.fields.is_divided == 1 { scale / self.fields.numbers.scale } else { scale };
            let residual = Residual { elements: operands.read(place, count)?, stride, after };
            ByteResidual::Bytes(residual, scale, byte(zero_point)?)
        } else {
            ByteResidual::Floats(Residual { elements: operands.read(place, count)?, stride, after })
        }))
    }
}

/// The activation before results become bytes. Limits of undivided numbers, or of bytes where nothing else is done.
fn limited(product: &QuantizedProduct) -> Result<Activation> {
    if product.is_divided == 1 { Ok(Activation::None) } else { activation(&product.activation) }
}

/// How numbers become bytes. Where scales are divided already, the limits of the activation are those of bytes.
fn quantization(product: &QuantizedProduct) -> Result<Quantization<'static>> {
    let Numbers { scale, zero_point } = product.numbers;
    let is_divided = product.is_divided == 1;
    let all = crate::Activation::clamp(f32::NEG_INFINITY, f32::INFINITY);
    let limits = if is_divided { &product.activation } else { &all };
    let [least, most] = byte_limits(limits, &product.numbers);
    let inverse_scale = if is_divided { 1.0 } else { 1.0 / scale };
    Ok(Quantization { inverse_scale, zero_point: byte(zero_point)?, least, most, table: None })
}

/// The bytes of limits.
pub fn byte_limits(limits: &crate::Activation, numbers: &Numbers) -> [i8; 2] {
    [limits.low, limits.high].map(|limit| {
        let steps = (limit / numbers.scale).clamp(-1024.0, 1024.0);
        // Adding a large number rounds to the nearest integer, the even one of two.
        let rounded = (steps + 12_582_912.0) - 12_582_912.0;
        (rounded as i32).saturating_add(numbers.zero_point).clamp(-128, 127) as i8
    })
}

/// A zero point.
pub fn byte(number: i32) -> Result<i8> {
    i8::try_from(number).map_err(|_| Error::InvalidProgram)
}
