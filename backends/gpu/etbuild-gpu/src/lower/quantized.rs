//! Quantization.

use etbuild_backend::{Call, Refusal, RefusalKind};
use etbuild_ir::Argument;

use crate::builder::Builder;
use crate::expr::ExprId;
use crate::types::{Literal, Type};

use super::elementwise::operands;
use super::{Done, no_arguments};

/// A scale or zero point: a number, or a tensor of one element.
fn scalar(builder: &mut Builder<'_>, call: &Call<'_>, position: usize, ty: Type) -> Result<ExprId, Refusal> {
    match call.node.arguments.get(position) {
        Some(Argument::Value(id)) => {
            let source = builder.repeated(*id)?;
            let source = builder.exprs.cast(source, ty);
            Ok(builder.exprs.broadcast(source, &call.sizes(*id), &[]))
        }
        Some(number) => builder.argument_as(number, &[], ty),
        None => Err(no_arguments()),
    }
}

/// A scale or zero point for each index of a dimension.
fn by_channel(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    position: usize,
    dim: usize,
    ty: Type,
) -> Result<ExprId, Refusal> {
    let Some(id) = call.optional_value(position)? else { return Ok(builder.exprs.number(0.0, ty)) };
    let source = builder.repeated(id)?;
    let source = builder.exprs.cast(source, ty);
    let coordinate = builder.exprs.coordinate(dim);
    Ok(builder.exprs.at(source, &[coordinate]))
}

/// `clamp(round(x / scale) + zero point)`: the positions of the limits follow those of the parameters.
fn quantized(builder: &mut Builder<'_>, call: &Call<'_>, scale: ExprId, zero: ExprId, limits: usize) -> Done {
    let input = operands(builder, call, &[0], Type::Float)?[0];
    let limit = |builder: &mut Builder<'_>, position| -> Result<ExprId, Refusal> {
        let number = call.int(position)?.ok_or_else(no_arguments)?;
        let number =
            i32::try_from(number).map_err(|_| Refusal::new(RefusalKind::Quantization, "a limit exceeds int32"))?;
        Ok(builder.exprs.literal(Literal::Int(number)))
    };
    let (least, most) = (limit(builder, limits)?, limit(builder, limits + 1)?);
    let template = "clamp(i32(clamp(round_f32({0} * (1.0f / {1})), -1073741824.0f, 1073741824.0f)) + {2}, {3}, {4})";
    let expr = builder.exprs.apply(template, &[input, scale, zero, least, most], Type::Int);
    builder.set(call.output()?, expr)
}

fn dequantized(builder: &mut Builder<'_>, call: &Call<'_>, scale: ExprId, zero: ExprId) -> Done {
    let input = operands(builder, call, &[0], Type::Int)?[0];
    let expr = builder.exprs.apply("((f32({0}) - {2}) * {1})", &[input, scale, zero], Type::Float);
    builder.set(call.output()?, expr)
}

/// Quantization by one scale and zero point.
pub fn quantize_per_tensor(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (scale, zero) = (scalar(builder, &call, 1, Type::Float)?, scalar(builder, &call, 2, Type::Int)?);
    quantized(builder, &call, scale, zero, 3)
}

/// The inverse.
pub fn dequantize_per_tensor(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (scale, zero) = (scalar(builder, &call, 1, Type::Float)?, scalar(builder, &call, 2, Type::Float)?);
    dequantized(builder, &call, scale, zero)
}

/// Quantization by a scale and zero point for each index of a dimension.
pub fn quantize_per_channel(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let dim = call.dim(3, call.output_sizes()?.len())?;
    let scale = by_channel(builder, &call, 1, dim, Type::Float)?;
    let zero = by_channel(builder, &call, 2, dim, Type::Int)?;
    quantized(builder, &call, scale, zero, 4)
}

/// The inverse.
pub fn dequantize_per_channel(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let dim = call.dim(3, call.output_sizes()?.len())?;
    let scale = by_channel(builder, &call, 1, dim, Type::Float)?;
    let zero = by_channel(builder, &call, 2, dim, Type::Float)?;
    dequantized(builder, &call, scale, zero)
}
