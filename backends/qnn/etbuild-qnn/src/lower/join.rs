//! Parts of tensors, and tensors of parts.

use etbuild_backend::{Call, Refusal, RefusalKind};
use etbuild_ir::Argument;

use crate::builder::{Builder, Form, Order, Step};
use crate::encoding::{self, Encoding};
use crate::program::{Parameter, TensorId};

use super::view::moved;
use super::{Done, no_arguments};

/// Concatenation: all operands get the qparams of the result.
pub fn cat(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (inputs, output) = (call.values(0)?, call.output()?);
    let rank = call.output_sizes()?.len();
    let axis = call.dim(1, rank)?;
    let mut encoding = match encoding::wanted(builder.links, output) {
        Some(affine) => Encoding::Integer(affine),
        None => Encoding::Float,
    };
    let mut order = Order::RowMajor;
    for id in &inputs {
        if builder.is_constant(*id) {
            continue;
        }
        let form = builder.form(*id)?;
        if !matches!(form.encoding, Encoding::Integer(_)) {
            encoding = Encoding::Float;
        }
        if form.order == Order::Nhwc {
            order = Order::Nhwc;
        }
    }
    let form = Form { encoding, order };
    let operands = inputs.iter().map(|id| builder.operand(*id, form)).collect::<Step<Vec<_>>>()?;
    let axis = match order {
        Order::RowMajor => axis,
        Order::Nhwc => [0, 3, 1, 2].get(axis).copied().ok_or_else(no_arguments)?,
    };
    builder.compute("Concat", vec![("axis", Parameter::Uint32(axis as u32))], operands, (output, form));
    Ok(())
}

/// The range of a dimension.
#[derive(Clone, Copy)]
pub struct Range {
    /// The dimension.
    pub dim: usize,
    /// The first index.
    pub start: i64,
    /// The index behind the last.
    pub end: i64,
    /// The distance of indices.
    pub step: i64,
}

/// Writes a part of a row-major tensor.
pub fn part(builder: &mut Builder<'_>, tensor: TensorId, range: Range, output: TensorId) {
    let sizes = &builder.program.get(tensor).sizes;
    let bounds = sizes.iter().enumerate().flat_map(|(dim, size)| match dim == range.dim {
        true => [range.start as i32, range.end as i32, range.step as i32],
        false => [0, *size as i32, 1],
    });
    let ranges = Parameter::Signed(vec![sizes.len() as u32, 3], bounds.collect());
    builder.operation("StridedSlice", vec![("ranges", ranges)], vec![tensor], output);
}

/// A number of a slice: negative numbers count from the end.
fn bounded(number: i64, size: usize) -> i64 {
    let size = size as i64;
    if number < 0 { number.saturating_add(size).max(0) } else { number.min(size) }
}

/// Every `step`-th index of a range.
pub fn slice(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let sizes = call.sizes(input);
    let dim = call.dim(1, sizes.len())?;
    let size = sizes.get(dim).copied().ok_or_else(no_arguments)?;
    let start = bounded(call.int(2)?.unwrap_or(0), size);
    let end = bounded(call.int(3)?.unwrap_or(i64::MAX), size).max(start);
    let range = Range { dim, start, end, step: call.int(4)?.unwrap_or(1) };
    let (tensor, form) = moved(builder, input, Order::RowMajor)?;
    let made = builder.native(output, form);
    part(builder, tensor, range, made);
    builder.store(output, form, made);
    Ok(())
}

/// An index of a dimension, which disappears.
pub fn select(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let sizes = call.sizes(input);
    let dim = call.dim(1, sizes.len())?;
    let size = sizes.get(dim).copied().ok_or_else(no_arguments)?;
    let start = bounded(call.int(2)?.ok_or_else(no_arguments)?, size);
    let range = Range { dim, start, end: start + 1, step: 1 };
    let (tensor, form) = moved(builder, input, Order::RowMajor)?;
    let mut shape = builder.sizes(input, Order::RowMajor);
    shape.get_mut(dim).map(|size| *size = 1).ok_or_else(no_arguments)?;
    let row = builder.temporary(output, form.encoding, shape);
    part(builder, tensor, range, row);
    builder.compute("Reshape", Vec::new(), vec![row], (output, form));
    Ok(())
}

/// Consecutive parts.
pub fn split(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let input = call.value(0)?;
    let dim = call.dim(2, call.sizes(input).len())?;
    let (tensor, form) = moved(builder, input, Order::RowMajor)?;
    let mut start = 0;
    for output in &call.node.outputs {
        let size = call.sizes(*output).get(dim).copied().ok_or_else(no_arguments)? as i64;
        let made = builder.native(*output, form);
        part(builder, tensor, Range { dim, start, end: start + size, step: 1 }, made);
        builder.store(*output, form, made);
        start += size;
    }
    Ok(())
}

/// A border of zeros.
pub fn pad(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let is_zero = match call.node.arguments.get(2) {
        None | Some(Argument::None | Argument::Int(0)) => true,
        Some(Argument::Float(number)) => *number == 0.0,
        _ => false,
    };
    let rank = call.sizes(input).len();
    let pads: Vec<u32> = call
        .ints(1)?
        .iter()
        .map(|pad| u32::try_from(*pad))
        .collect::<Result<_, _>>()
        .map_err(|_| Refusal::new(RefusalKind::Argument, "a border is negative"))?;
    let (tensor, form) = moved(builder, input, Order::RowMajor)?;
    if !is_zero {
        return Err(Refusal::new(RefusalKind::Argument, "the border is not 0"));
    }
    if !matches!(form.encoding, Encoding::Integer(_)) && has_border_behind_alone(&pads) {
        return Err(Refusal::new(RefusalKind::Argument, "one of several borders in fp16 is behind the elements alone"));
    }
    // Pairs of the last dimension come first.
    let amount = (0..rank).rev().flat_map(|dim| [2 * dim, 2 * dim + 1].map(|at| pads.get(at).copied().unwrap_or(0)));
    let amount = Parameter::Integers(vec![rank as u32, 2], amount.collect());
    let zero = match form.encoding {
        Encoding::Integer(affine) => Parameter::Uint32(affine.zero as u32),
        _ => Parameter::Float32(0.0),
    };
    let parameters = vec![("scheme", Parameter::Uint32(0)), ("pad_amount", amount), ("pad_constant_value", zero)];
    builder.compute("Pad", parameters, vec![tensor], (output, form));
    Ok(())
}

/// Whether several dimensions have borders, one of them behind the elements alone, for which the library gives wrong numbers in fp16.
fn has_border_behind_alone(pads: &[u32]) -> bool {
    let borders: Vec<&[u32]> = pads.chunks(2).filter(|pair| pair.iter().any(|pad| *pad > 0)).collect();
    borders.len() > 1 && borders.iter().any(|pair| pair.first() == Some(&0))
}
