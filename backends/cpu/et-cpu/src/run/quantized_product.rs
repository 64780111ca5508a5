//! int8 convolution and GEMM with packed int8 weights.

use et_core::{Error, Result};
use et_gemm::{Activation, Int8Gemm, Int8Operands, Int8Residual, Isa, Quantization, Residual, RowScale};

use crate::memory::Operands;
use crate::run::Context;
use crate::run::product::{LEAST, activation, rectangles, shape_of, work};
use crate::run::rectangle::Rectangle;
use crate::{Numbers, QuantizedProduct};

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, fields: &QuantizedProduct) -> Result<()> {
    let shape = shape_of(&fields.window, fields.input)?;
    let planned = Int8Gemm::new(shape, context.isa)?;
    let (input, output) = rectangles(&shape, fields.input, fields.output);
    let mut operands = context.memory.operands();
    let read = Int8Operands {
        input: input.read(&mut operands)?,
        zero_point: byte(fields.input_zero)?,
        row_scales: match fields.row_scales.is_present() {
            true => operands.read::<RowScale>(fields.row_scales, output.rows)?,
            false => &[],
        },
        weights: operands.read_all::<u8>(fields.weights)?,
        activation: limited(fields)?,
        residual: residual(fields, &output, &mut operands)?,
    };
    // An int8 multiply-accumulate takes a quarter of the time of an f32 multiply-accumulate.
    let (grid, work) = (planned.grid(), (work(&shape), 4 * LEAST));
    if fields.numbers.are_bytes() {
        let quantization = quantization(fields)?;
        output.write(context, operands, &grid, work, |output, block, workspace| {
            planned.compute(&read, quantization, output, block, workspace)
        })
    } else {
        output.write(context, operands, &grid, work, |output, block, workspace| {
            planned.compute_floats(&read, output, block, workspace)
        })
    }
}

/// The workspace size per thread, in bytes.
pub fn workspace(product: &QuantizedProduct, isa: Isa) -> usize {
    let shape = shape_of(&product.window, product.input);
    shape.and_then(|shape| Int8Gemm::new(shape, isa)).map_or(0, |planned| planned.scratch_size())
}

/// The residual tensor of the epilogue: int8 or f32.
fn residual<'m>(
    fields: &QuantizedProduct,
    output: &Rectangle,
    operands: &mut Operands<'m, '_, '_>,
) -> Result<Option<Int8Residual<'m>>> {
    let place = fields.residual;
    if !place.place.is_present() {
        return Ok(None);
    }
    let rectangle = Rectangle { place, ..*output };
    let (stride, after) = (place.stride as usize, fields.residual_last == 1);
    let Numbers { scale, zero_point } = fields.residual_numbers;
    Ok(Some(if fields.residual_numbers.are_bytes() {
        let scale = if fields.is_divided == 1 { scale / fields.numbers.scale } else { scale };
        let residual = Residual { elements: rectangle.read(operands)?, stride, after };
        Int8Residual::Bytes(residual, scale, byte(zero_point)?)
    } else {
        Int8Residual::Floats(Residual { elements: rectangle.read(operands)?, stride, after })
    }))
}

/// The epilogue's activation before requantization. Without an activation function, requantization clamps in int8 instead.
fn limited(product: &QuantizedProduct) -> Result<Activation> {
    if product.is_divided == 1 { Ok(Activation::None) } else { activation(&product.activation) }
}

/// The requantization. Where the packed scales include the output scale, the clamp limits are int8.
fn quantization(product: &QuantizedProduct) -> Result<Quantization> {
    let Numbers { scale, zero_point } = product.numbers;
    let is_divided = product.is_divided == 1;
    let all = crate::Activation::clamp(f32::NEG_INFINITY, f32::INFINITY);
    let limits = if is_divided { &product.activation } else { &all };
    let [least, most] = byte_limits(limits, &product.numbers);
    let inverse_scale = if is_divided { 1.0 } else { 1.0 / scale };
    Ok(Quantization { inverse_scale, zero_point: byte(zero_point)?, least, most })
}

/// The int8 clamp limits.
pub fn byte_limits(limits: &crate::Activation, numbers: &Numbers) -> [i8; 2] {
    [limits.low, limits.high].map(|limit| {
        let steps = (limit / numbers.scale).clamp(-1024.0, 1024.0);
        // Adding 1.5 * 2^23 rounds to the nearest integer, ties to even.
        let rounded = (steps + 12_582_912.0) - 12_582_912.0;
        (rounded as i32).saturating_add(numbers.zero_point).clamp(-128, 127) as i8
    })
}

/// The zero point as int8.
pub fn byte(number: i32) -> Result<i8> {
    i8::try_from(number).map_err(|_| Error::InvalidProgram)
}
