//! Softmax, LayerNorm, RMSNorm and mean.

use et_core::ScalarType;
use et_cpu::{Mean, Normalize, QParams, SlotNumber, Softmax, TopK, TopKWithin, Write};
use et_kernels::elementwise::Operation;
use etbuild_ir::ValueId;

use crate::Problem;
use crate::builder::{Builder, place, rows, slot};
use crate::chain::Operand;
use crate::lower::Lowered;
use crate::tensor::FLOAT;
use crate::tensor::Tensor;
use etbuild_backend::{Call, dim};

/// Softmax over the last dimension.
pub fn softmax(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (input, output) = operands(builder, &call)?;
    let (from, count, columns) = rows(&input).ok_or(Problem::Arguments)?;
    let (to, ..) = rows(&output).ok_or(Problem::Arguments)?;
    builder.emit(Softmax { input: from, output: Write(to), rows: count as u32, columns: columns as u32 });
    Ok(Some(output))
}

/// LayerNorm over the last dimensions.
pub fn layer_norm(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let parameters = [call.optional_value(2)?, call.optional_value(3)?];
    let epsilon = call.number(4)?.unwrap_or(1e-5);
    normalize(builder, call, parameters, epsilon, true)
}

/// RMSNorm over the last dimensions.
pub fn rms_norm(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let parameters = [call.optional_value(2)?, None];
    let epsilon = call.number(3)?.unwrap_or(f64::from(f32::EPSILON));
    normalize(builder, call, parameters, epsilon, false)
}

fn normalize(
    builder: &mut Builder<'_>,
    call: Call<'_>,
    [weight, bias]: [Option<ValueId>; 2],
    epsilon: f64,
    centered: bool,
) -> Lowered {
    let (input, output) = operands(builder, &call)?;
    let columns: i64 = call.ints(1)?.iter().product();
    let columns = usize::try_from(columns).ok().filter(|columns| *columns > 0).ok_or(Problem::Arguments)?;
    let matrix = |tensor: &Tensor| tensor.viewed(&[tensor.numel() / columns, columns]);
    let (from, count, _) = matrix(&input).as_ref().and_then(rows).ok_or(Problem::Arguments)?;
    let (to, ..) = matrix(&output).as_ref().and_then(rows).ok_or(Problem::Arguments)?;
    let norm = Normalize {
        input: from,
        output: Write(to),
        weight: parameter(builder, weight)?,
        bias: parameter(builder, bias)?,
        rows: count as u32,
        columns: columns as u32,
        epsilon: epsilon as f32,
        centered,
    };
    builder.emit(norm);
    Ok(Some(output))
}

fn parameter(builder: &mut Builder<'_>, id: Option<ValueId>) -> Result<SlotNumber, Problem> {
    id.map_or(Ok(SlotNumber::NONE), |id| Ok(slot(&builder.tensor(id)?)))
}

/// The row-major input tensor and an output tensor of the same shape.
fn operands(builder: &mut Builder<'_>, call: &Call<'_>) -> Result<(Tensor, Tensor), Problem> {
    let input = builder.dense(call.value(0)?)?;
    let output = builder.row_major(input.scalar_type, &input.sizes);
    Ok((input, output))
}

/// The mean over neighbouring dimensions.
pub fn mean(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let sizes = call.output_sizes()?;
    let input = builder.tensor(call.value(0)?)?;
    let dims = call.ints(1)?.iter().map(|number| dim(*number, input.rank())).collect::<Result<Vec<_>, _>>()?;
    let is_dense = input.is_row_major() || input.is_channels_last();
    let are_neighbours = is_dense && position(&input.order(), &dims).is_some();
    let input = if are_neighbours { input } else { builder.in_row_major(input) };
    let order = input.order();
    let first = position(&order, &dims).ok_or(Problem::Arguments)?;
    let (outer, rest) = order.split_at(first);
    let (reduced, inner) = rest.split_at(dims.len());
    let count = |dims: &[usize]| dims.iter().map(|dim| input.sizes[*dim]).product::<usize>() as u32;
    let shape = [outer, reduced, inner].map(count);
    let kept = (0..input.rank()).map(|dim| if dims.contains(&dim) { 1 } else { input.sizes[dim] });
    let output = builder.scratch(FLOAT, &kept.collect::<Vec<_>>(), &order);
    let (from, to) = (QParams::FLOAT, QParams::FLOAT);
    builder.emit(Mean { input: place(&input), from, output: Write(place(&output)), to, sizes: shape });
    let output = output.viewed(&sizes).ok_or(Problem::Arguments)?;
    Ok(Some(output))
}

/// The sum over neighbouring dimensions: the mean times the number of elements.
pub fn sum(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (sizes, all) = (call.output_sizes()?, call.sizes(call.value(0)?));
    let count = all.iter().product::<usize>() / sizes.iter().product::<usize>().max(1);
    let mean = mean(builder, call)?.ok_or(Problem::Order)?;
    builder
        .computed(&[Operand::Tensor(mean), Operand::Number(count as f32)], &sizes, Operation::Mul, QParams::FLOAT)
        .map(Some)
}

/// The greatest or least elements of each row, and their indices.
pub fn topk(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let is_largest = call.node.arguments.len() < 4 || call.flag(3)?;
    let (topk, values) = best(builder, &call, is_largest)?;
    builder.emit(topk);
    Ok(Some(values))
}

/// The experts that each row chooses: `(scores, biases, count, groups, kept, judged)`.
pub fn choose_experts(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let biases = builder.optional(call.optional_value(1)?)?;
    let number = |position: usize| Ok::<_, Problem>(call.int(position)?.map_or(1, |number| number as u32));
    let (groups, kept, judged) = (number(3)?, number(4)?, number(5)?);
    let (rows, values) = best(builder, &call, true)?;
    builder.emit(TopKWithin { rows, biases, groups, kept, judged });
    Ok(Some(values))
}

/// The instruction for the best elements of each row, and the values; the indices are set.
fn best(builder: &mut Builder<'_>, call: &Call<'_>, is_largest: bool) -> Result<(TopK, Tensor), Problem> {
    let input = builder.dense(call.value(0)?)?;
    let ([rows, columns], sizes) = (input.rows_and_columns(), call.output_sizes()?);
    let count = sizes.last().copied().ok_or(Problem::Arguments)?;
    let values = builder.row_major(FLOAT, &sizes);
    let indices = builder.row_major(ScalarType::Long, &sizes);
    let topk = TopK {
        input: place(&input),
        values: Write(place(&values)),
        indices: Write(place(&indices)),
        sizes: [rows, columns].map(|size| size as u32),
        count: count as u32,
        is_largest,
    };
    let places = call.node.outputs.get(1).copied().ok_or(Problem::Arguments)?;
    builder.set(places, indices);
    Ok((topk, values))
}

/// The position in a memory order from which on `dims` follow each other; `None` where other dimensions are in between.
fn position(order: &[usize], dims: &[usize]) -> Option<usize> {
    let first = order.iter().position(|dim| dims.contains(dim))?;
    let together = order.get(first..first + dims.len())?;
    together.iter().all(|dim| dims.contains(dim)).then_some(first)
}
