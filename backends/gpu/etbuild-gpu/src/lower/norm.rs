//! Norms, softmax and variance: element-wise expressions of stored statistics.

use etbuild_backend::{Call, Refusal, RefusalKind};
use etbuild_ir::Argument;

use crate::builder::Builder;
use crate::expr::{ExprId, Fold, IndexOp};
use crate::types::Type;

use super::product::is_single;
use super::reduce::{Dims, count, fold, mean_of, reduced};
use super::{Done, along, no_arguments};

/// A statistic of a tensor: a fold over dimensions, which stay with size 1, stored, and broadcast to the shape of the tensor.
pub fn statistic(builder: &mut Builder<'_>, sizes: &[usize], dims: &[usize], expr: ExprId) -> Result<ExprId, Refusal> {
    let mut kept = sizes.to_vec();
    dims.iter().for_each(|dim| kept[*dim] = 1);
    let stored = builder.store_part(expr, kept.clone())?;
    Ok(builder.broadcast(stored, &kept, sizes))
}

/// The operator that turns pairs of elements of a row.
const ROTATION: &str = "etbuild::rotate";

/// The longest row that a kernel folds and stores.
const LONGEST_ROW: usize = 4096;

/// Whether the kernel that stores a result folds the rows of the input too.
fn has_row_kernel(builder: &Builder<'_>, call: &Call<'_>, sizes: &[usize], dims: &[usize]) -> bool {
    let is_row = dims.len() == 1 && dims[0] + 1 == sizes.len() && sizes[dims[0]] <= LONGEST_ROW;
    !builder.profile.on_cpu() && is_row && call.output().is_ok_and(|output| is_single(call, output))
}

/// A statistic as [`statistic`], not stored for a kernel that folds rows itself.
fn row_statistic(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    sizes: &[usize],
    dims: &[usize],
    expr: ExprId,
) -> Result<ExprId, Refusal> {
    if !has_row_kernel(builder, call, sizes, dims) {
        return statistic(builder, sizes, dims, expr);
    }
    let mut kept = sizes.to_vec();
    dims.iter().for_each(|dim| kept[*dim] = 1);
    Ok(builder.broadcast(expr, &kept, sizes))
}

/// States the normalized value; stored by a kernel that folds rows itself where statistics were not stored.
fn set(builder: &mut Builder<'_>, call: &Call<'_>, expr: ExprId, sizes: &[usize], dims: &[usize]) -> Done {
    let output = call.output()?;
    // The rotation of a norm's result is of the same rows: one kernel computes both.
    let is_rotated = builder.links.only_reader(output).is_some_and(|reader| reader.operator.qualified() == ROTATION);
    match has_row_kernel(builder, call, sizes, dims) && !is_rotated {
        true => builder.set_folded_rows(output, expr),
        false => builder.set(output, expr),
    }
}

/// How a statistic is kept, as by [`statistic`].
type Statistic<'s> = &'s dyn Fn(&mut Builder<'_>, &[usize], &[usize], ExprId) -> Result<ExprId, Refusal>;

/// Mean and variance of a value over dimensions.
fn moments(
    builder: &mut Builder<'_>,
    source: ExprId,
    sizes: &[usize],
    dims: &[usize],
    lost: f64,
    statistic: Statistic<'_>,
) -> Result<[ExprId; 2], Refusal> {
    let dims = Dims { folded: dims.to_vec(), keeps: true };
    let ty = builder.exprs.ty(source);
    let mean = mean_of(builder, source, sizes, &dims)?;
    let mean = statistic(builder, sizes, &dims.folded, mean)?;
    let distance = builder.exprs.apply("(({0} - {1}) * ({0} - {1}))", &[source, mean], ty);
    let sum = fold(builder, Fold::Sum, distance, sizes, &dims)?;
    let divisor = builder.exprs.number((count(sizes, &dims) as f64 - lost).max(0.0), ty);
    let variance = builder.exprs.quotient(sum, divisor);
    Ok([mean, statistic(builder, sizes, &dims.folded, variance)?])
}

/// The variance, and the mean if it is an output.
pub fn variance(builder: &mut Builder<'_>, call: Call<'_>, is_unbiased: bool) -> Done {
    let input = call.value(0)?;
    let dims = Dims::list(&call, 1, Some(3))?;
    let lost = if is_unbiased { f64::from(u8::from(call.flag(2)?)) } else { call.number(2)?.unwrap_or(1.0) };
    let sizes = call.sizes(input);
    let source = builder.repeated(input)?;
    let [mean, variance] = moments(builder, source, &sizes, &dims.folded, lost, &statistic)?;
    let results = [variance, mean].map(|expr| reduced(builder, expr, sizes.len(), &dims));
    for (output, expr) in call.node.outputs.iter().zip(results) {
        builder.set(*output, expr)?;
    }
    Ok(())
}

/// Softmax, or its logarithm, along a dimension.
pub fn softmax(builder: &mut Builder<'_>, call: Call<'_>, template: &'static str) -> Done {
    let input = call.value(0)?;
    let sizes = call.sizes(input);
    if sizes.is_empty() {
        return Err(Refusal::new(RefusalKind::Shape, "the softmax is of a scalar"));
    }
    let along = along(&call, 1, sizes.len())?;
    let source = builder.repeated(input)?;
    let source = builder.exprs.cast(source, Type::Float);
    let dims = Dims { folded: vec![along], keeps: true };
    let most = fold(builder, Fold::Max, source, &sizes, &dims)?;
    let most = row_statistic(builder, &call, &sizes, &[along], most)?;
    let power = builder.exprs.apply("exp_f32({0} - {1})", &[source, most], Type::Float);
    let sum = fold(builder, Fold::Sum, power, &sizes, &dims)?;
    let sum = row_statistic(builder, &call, &sizes, &[along], sum)?;
    let expr = builder.exprs.apply(template, &[source, most, sum], Type::Float);
    set(builder, &call, expr, &sizes, &[along])
}

/// `(x - mean) / sqrt(variance + eps)`, times the weight and plus the bias, of which either may be absent.
fn normalized(
    builder: &mut Builder<'_>,
    source: ExprId,
    [mean, variance]: [ExprId; 2],
    eps: f64,
    scales: [Option<ExprId>; 2],
) -> ExprId {
    let eps = builder.exprs.number(eps, Type::Float);
    let template = "(({0} - {1}) * (1.0f / sqrt({2} + {3})))";
    let mut expr = builder.exprs.apply(template, &[source, mean, variance, eps], Type::Float);
    for (scale, template) in scales.into_iter().zip(["({0} * {1})", "({0} + {1})"]) {
        if let Some(scale) = scale {
            expr = builder.exprs.apply(template, &[expr, scale], Type::Float);
        }
    }
    expr
}

/// A weight or bias whose dimensions are these dimensions of the output.
fn scale(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    position: usize,
    dims: &[usize],
) -> Result<Option<ExprId>, Refusal> {
    let Some(id) = call.optional_value(position)? else { return Ok(None) };
    let source = builder.repeated(id)?;
    let source = builder.exprs.cast(source, Type::Float);
    let coordinates = builder.exprs.coordinates_of(dims.iter().copied());
    Ok(Some(builder.exprs.at(source, &coordinates)))
}

/// The input of a norm over its last dimensions, the shape, and these dimensions.
fn last_dims(builder: &mut Builder<'_>, call: &Call<'_>) -> Result<(ExprId, Vec<usize>, Vec<usize>), Refusal> {
    let input = call.value(0)?;
    let sizes = call.sizes(input);
    let first = sizes.len().checked_sub(call.ints(1)?.len()).ok_or_else(no_arguments)?;
    let source = builder.repeated(input)?;
    let dims = (first..sizes.len()).collect();
    Ok((builder.exprs.cast(source, Type::Float), sizes, dims))
}

/// Layer normalization: over the last dimensions, with weight and bias; `native` has mean and inverse deviation as outputs.
pub fn layer_norm(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (source, sizes, dims) = last_dims(builder, &call)?;
    let by_row = |builder: &mut Builder<'_>, sizes: &[usize], dims: &[usize], expr| {
        row_statistic(builder, &call, sizes, dims, expr)
    };
    let moments = moments(builder, source, &sizes, &dims, 0.0, &by_row)?;
    let scales = [scale(builder, &call, 2, &dims)?, scale(builder, &call, 3, &dims)?];
    let eps = call.number(4)?.unwrap_or(1e-5);
    let expr = normalized(builder, source, moments, eps, scales);
    set(builder, &call, expr, &sizes, &dims)?;
    let dims = Dims { folded: dims, keeps: true };
    statistics(builder, &call, moments, eps, sizes.len(), &dims)
}

/// Further outputs: the mean, and the inverse standard deviation.
fn statistics(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    [mean, variance]: [ExprId; 2],
    eps: f64,
    rank: usize,
    dims: &Dims,
) -> Done {
    let eps = builder.exprs.number(eps, Type::Float);
    let inverse = builder.exprs.apply("(1.0f / sqrt({0} + {1}))", &[variance, eps], Type::Float);
    for (output, expr) in call.node.outputs.iter().skip(1).zip([mean, inverse]) {
        let expr = reduced(builder, expr, rank, dims);
        builder.set(*output, expr)?;
    }
    Ok(())
}

/// RMS normalization over the last dimensions, with a weight.
pub fn rms_norm(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (source, sizes, dims) = last_dims(builder, &call)?;
    let square = builder.exprs.apply("({0} * {0})", &[source], Type::Float);
    let mean = mean_of(builder, square, &sizes, &Dims { folded: dims.clone(), keeps: true })?;
    let mean = row_statistic(builder, &call, &sizes, &dims, mean)?;
    let eps = builder.exprs.number(call.number(3)?.unwrap_or(f64::from(f32::EPSILON)), Type::Float);
    let mut expr = builder.exprs.apply("({0} * (1.0f / sqrt({1} + {2})))", &[source, mean, eps], Type::Float);
    if let Some(weight) = scale(builder, &call, 2, &dims)? {
        expr = builder.exprs.apply("({0} * {1})", &[expr, weight], Type::Float);
    }
    set(builder, &call, expr, &sizes, &dims)
}

/// Group normalization of `[batch, channels, ...]`; the position of the number of groups, and of weight and bias.
pub fn group_norm(builder: &mut Builder<'_>, call: Call<'_>, groups: usize, weight: usize) -> Done {
    let input = call.value(0)?;
    let sizes = call.sizes(input);
    let groups = usize::try_from(call.int(groups)?.unwrap_or(1)).map_err(|_| no_arguments())?;
    let [batch, channels] = [sizes[0], sizes[1]];
    let grouped: Vec<usize> =
        [batch, groups, channels / groups.max(1)].into_iter().chain(sizes[2..].iter().copied()).collect();
    let source = builder.repeated(input)?;
    let source = builder.exprs.cast(source, Type::Float);
    // The coordinates of the input for those of the grouped shape.
    let mut coordinates = vec![builder.exprs.coordinate(0)];
    let [group, channel] = [1, 2].map(|dim| builder.exprs.coordinate(dim));
    coordinates.push(builder.exprs.linear(&[group, channel], &[grouped[2], 1], 0));
    coordinates.extend(builder.exprs.coordinates_of(3..grouped.len()));
    let view = builder.exprs.at(source, &coordinates);
    let dims: Vec<usize> = (2..grouped.len()).collect();
    let moments = moments(builder, view, &grouped, &dims, 0.0, &statistic)?;
    // The coordinates of the grouped shape for those of the input.
    let per_group = builder.exprs.int(grouped[2]);
    let all = builder.exprs.coordinate(1);
    let group = builder.exprs.index(IndexOp::Div, all, per_group);
    let mut back = vec![builder.exprs.coordinate(0), group];
    back.extend((2..grouped.len()).map(|_| builder.exprs.int(0)).collect::<Vec<_>>());
    let spread = moments.map(|expr| builder.exprs.at(expr, &back));
    let scales = [scale(builder, &call, weight, &[1])?, scale(builder, &call, weight + 1, &[1])?];
    let eps = call
        .node
        .arguments
        .iter()
        .rev()
        .find_map(|argument| if let Argument::Float(eps) = argument { Some(*eps) } else { None });
    let eps = eps.unwrap_or(1e-5);
    let expr = normalized(builder, source, spread, eps, scales);
    builder.set(call.output()?, expr)?;
    statistics(builder, &call, moments, eps, grouped.len(), &Dims { folded: dims, keeps: false })
}

/// A batch normalization, which reads four tensors, joins the kernel of an expression that reads no more than these.
const MOST_BEFORE_NORM: usize = 3;

/// Batch normalization by stored statistics.
pub fn batch_norm(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let input = call.value(0)?;
    let mut source = builder.value(input)?;
    if builder.reads(source).0 > MOST_BEFORE_NORM {
        source = builder.repeated(input)?;
    }
    let source = builder.exprs.cast(source, Type::Float);
    let [weight, bias, mean, variance] = [1, 2, 3, 4].map(|position| scale(builder, &call, position, &[1]));
    let missing = || Refusal::new(RefusalKind::Argument, "the statistics are missing");
    let moments = [mean?.ok_or_else(missing)?, variance?.ok_or_else(missing)?];
    let expr = normalized(builder, source, moments, call.number(6)?.unwrap_or(1e-5), [weight?, bias?]);
    builder.set(call.output()?, expr)?;
    // The saved statistics of training are empty.
    for output in call.node.outputs.iter().skip(1) {
        if call.links.read_count(*output) > 0 {
            return Err(Refusal::new(RefusalKind::Argument, "saved statistics are read"));
        }
    }
    Ok(())
}
