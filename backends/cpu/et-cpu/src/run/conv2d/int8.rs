//! int8 convolution and GEMM with packed int8 weights.

use et_core::Result;
use et_gemm::{Activation, Int8Gemm, Int8Operands, Int8Residual, Isa, Quantization, RowScale};

use crate::memory::Operands;
use crate::run::Context;
use crate::run::conv2d::{self, LEAST, activation, rectangles, shape_of, work};
use crate::run::depthwise::{byte, byte_limits};
use crate::run::rectangle::Rectangle;
use crate::{Conv2d, QParams};

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, fields: &Conv2d) -> Result<()> {
    let shape = shape_of(&fields.window, fields.input)?;
    let planned = Int8Gemm::new(shape, context.isa)?;
    let (input, output) = rectangles(&shape, fields.input, *fields.output);
    let mut operands = context.memory.operands();
    let read = Int8Operands {
        input: input.read(&mut operands)?,
        zero_point: byte(fields.input_qparams.zero_point)?,
        row_scales: match fields.row_scales.is_present() {
            true => operands.read::<RowScale>(fields.row_scales, output.rows)?,
            false => &[],
        },
        weights: operands.read_all::<u8>(fields.weights.slot)?,
        activation: limited(fields)?,
        residual: residual(fields, &output, &mut operands)?,
    };
    // An int8 multiply-accumulate takes a quarter of the time of an f32 multiply-accumulate.
    let (grid, work) = (planned.grid(), (work(&shape), 4 * LEAST));
    if fields.output_qparams.is_int8() {
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
pub fn workspace(fields: &Conv2d, isa: Isa) -> Result<usize> {
    let shape = shape_of(&fields.window, fields.input)?;
    Ok(Int8Gemm::new(shape, isa)?.scratch_size())
}

/// The residual tensor of the epilogue: int8 or f32.
fn residual<'m>(
    fields: &Conv2d,
    output: &Rectangle,
    operands: &mut Operands<'m, '_, '_>,
) -> Result<Option<Int8Residual<'m>>> {
    let epilogue = &fields.epilogue;
    let QParams { scale, zero_point } = epilogue.residual_qparams;
    if !epilogue.residual_qparams.is_int8() {
        return Ok(conv2d::residual(epilogue, output, operands)?.map(Int8Residual::Floats));
    }
    let Some(residual) = conv2d::residual(epilogue, output, operands)? else { return Ok(None) };
    let scale = if epilogue.is_divided == 1 { scale / fields.output_qparams.scale } else { scale };
    Ok(Some(Int8Residual::Bytes(residual, scale, byte(zero_point)?)))
}

/// The epilogue's activation before requantization. Without an activation function, requantization clamps in int8 instead.
fn limited(fields: &Conv2d) -> Result<Activation> {
    if fields.epilogue.is_divided == 1 { Ok(Activation::None) } else { activation(&fields.epilogue.activation) }
}

/// The requantization. Where the packed scales include the output scale, the clamp limits are int8.
fn quantization(fields: &Conv2d) -> Result<Quantization> {
    let QParams { scale, zero_point } = fields.output_qparams;
    let is_divided = fields.epilogue.is_divided == 1;
    let all = crate::Activation::clamp(f32::NEG_INFINITY, f32::INFINITY);
    let limits = if is_divided { &fields.epilogue.activation } else { &all };
    let [least, most] = byte_limits(limits, &fields.output_qparams);
    let inverse_scale = if is_divided { 1.0 } else { 1.0 / scale };
    Ok(Quantization { inverse_scale, zero_point: byte(zero_point)?, least, most })
}
