//! Pools: folds over windows.

use etbuild_backend::{Call, Refusal};

use crate::builder::Builder;
use crate::expr::{ExprId, Fold, IndexOp};
use crate::types::{Literal, Type};

use super::{Done, no_arguments};

/// The window of a pool, by spatial dimension.
struct Window {
    kernel: Vec<usize>,
    stride: Vec<usize>,
    padding: Vec<usize>,
    dilation: Vec<usize>,
}

/// A list of sizes by spatial dimension: one number stands for all.
pub fn by_dim(numbers: &[i64], spatial: usize, absent: usize) -> Result<Vec<usize>, Refusal> {
    let number = |number: i64| usize::try_from(number).map_err(|_| no_arguments());
    match numbers {
        [] => Ok(vec![absent; spatial]),
        [one] => Ok(vec![number(*one)?; spatial]),
        many if many.len() == spatial => many.iter().map(|one| number(*one)).collect(),
        _ => Err(no_arguments()),
    }
}

fn window(call: &Call<'_>, spatial: usize, dilation: Option<usize>) -> Result<Window, Refusal> {
    let kernel = by_dim(call.ints(1)?, spatial, 1)?;
    let stride = call.ints(2)?;
    let stride = if stride.is_empty() { kernel.clone() } else { by_dim(stride, spatial, 1)? };
    let padding = by_dim(call.ints(3)?, spatial, 0)?;
    let dilation = dilation.map_or(Ok(vec![1; spatial]), |position| by_dim(call.ints(position)?, spatial, 1))?;
    Ok(Window { kernel, stride, padding, dilation })
}

/// The coordinates of a window's elements in the input, which may lie outside, and whether they lie inside.
fn window_coordinates(builder: &mut Builder<'_>, window: &Window, sizes: &[usize]) -> (Vec<ExprId>, Option<ExprId>) {
    let (rank, spatial) = (sizes.len(), window.kernel.len());
    let mut coordinates = builder.exprs.coordinates(rank);
    let mut conditions = Vec::new();
    for axis in 0..spatial {
        let dim = rank - spatial + axis;
        let (outer, inner) = (coordinates[dim], builder.exprs.coordinate(rank + axis));
        let strides = [window.stride[axis], window.dilation[axis]];
        let sum = builder.exprs.linear(&[outer, inner], &strides, 0);
        coordinates[dim] = sum;
        let (padding, size) = (builder.exprs.int(window.padding[axis]), builder.exprs.int(sizes[dim]));
        conditions.push(if window.padding[axis] == 0 {
            builder.exprs.apply("({0} < {1})", &[sum, size], Type::Bool)
        } else {
            coordinates[dim] = builder.exprs.apply("({0} - {1})", &[sum, padding], Type::Int);
            builder.exprs.apply("({0} >= 0i && {0} < {1})", &[coordinates[dim], size], Type::Bool)
        });
    }
    (coordinates, builder.exprs.all(conditions))
}

/// Average pooling over the last dimensions.
pub fn average(builder: &mut Builder<'_>, call: Call<'_>, spatial: usize) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let (sizes, ty) = (call.sizes(input), builder.ty(output)?);
    let window = window(&call, spatial, None)?;
    let source = builder.repeated(input)?;
    let (coordinates, inside) = window_coordinates(builder, &window, &sizes);
    let element = builder.exprs.at(source, &coordinates);
    let zero = builder.exprs.number(0.0, ty);
    let body = inside.map_or(element, |inside| builder.exprs.choose(inside, element, zero));
    let sum = builder.exprs.fold(Fold::Sum, sizes.len(), &window.kernel, body);
    let divisor = match call.int(6)? {
        Some(divisor) => builder.exprs.number(divisor as f64, ty),
        None => divisor(builder, &window, &sizes, call.flag(5)?, ty),
    };
    let expr = builder.exprs.apply("({0} / {1})", &[sum, divisor], ty);
    builder.set(output, expr)
}

/// The number of elements of a window in the input, or in the padded input.
fn divisor(builder: &mut Builder<'_>, window: &Window, sizes: &[usize], with_padding: bool, ty: Type) -> ExprId {
    let (rank, spatial) = (sizes.len(), window.kernel.len());
    let mut counts = Vec::new();
    for axis in 0..spatial {
        let size = sizes[rank - spatial + axis];
        let outer = builder.exprs.coordinate(rank - spatial + axis);
        let start = builder.exprs.linear(&[outer], &[window.stride[axis]], 0);
        let [kernel, padding, size] =
            [window.kernel[axis], window.padding[axis], size].map(|size| builder.exprs.int(size));
        let template = if with_padding {
            "(min({0} + {1}, {3} + 2i * {2}) - {0})"
        } else {
            "(min({0} - {2} + {1}, {3}) - max({0} - {2}, 0i))"
        };
        counts.push(builder.exprs.apply(template, &[start, kernel, padding, size], Type::Int));
    }
    product(builder, counts, ty)
}

/// The product of numbers of elements, as a type.
fn product(builder: &mut Builder<'_>, counts: Vec<ExprId>, ty: Type) -> ExprId {
    let times = |product, count| builder.exprs.apply("({0} * {1})", &[product, count], Type::Int);
    let count = counts.into_iter().reduce(times).unwrap_or_else(|| builder.exprs.int(1));
    builder.exprs.cast(count, ty)
}

/// Max pooling over the last dimensions, and the position of each maximum in the input.
pub fn max_with_positions(builder: &mut Builder<'_>, call: Call<'_>, spatial: usize) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let (sizes, ty) = (call.sizes(input), builder.ty(output)?);
    let window = window(&call, spatial, Some(4))?;
    let source = builder.repeated(input)?;
    let (coordinates, inside) = window_coordinates(builder, &window, &sizes);
    let element = builder.exprs.at(source, &coordinates);
    let least = match ty {
        Type::Int => builder.exprs.literal(Literal::Int(i32::MIN)),
        Type::Long => builder.exprs.literal(Literal::Long(i64::MIN)),
        _ => builder.exprs.number(f64::NEG_INFINITY, ty),
    };
    let body = inside.map_or(element, |inside| builder.exprs.choose(inside, element, least));
    let most = builder.exprs.fold(Fold::Max, sizes.len(), &window.kernel, body);
    if let Some(positions) = call.node.outputs.get(1).filter(|id| call.links.read_count(**id) > 0) {
        let place = builder.exprs.fold(Fold::ArgMax, sizes.len(), &window.kernel, body);
        let kernel = crate::tensor::dense_strides(&window.kernel, 0..spatial);
        let plane = &sizes[sizes.len() - spatial..];
        let strides = crate::tensor::dense_strides(plane, 0..spatial);
        let mut parts = Vec::new();
        for (axis, step) in kernel.iter().enumerate() {
            let (step, size) = (builder.exprs.int(*step), builder.exprs.int(window.kernel[axis]));
            let within = builder.exprs.index(IndexOp::Div, place, step);
            let within = builder.exprs.index(IndexOp::Rem, within, size);
            let outer = builder.exprs.coordinate(sizes.len() - spatial + axis);
            let sum = builder.exprs.linear(&[outer, within], &[window.stride[axis], window.dilation[axis]], 0);
            let padding = builder.exprs.int(window.padding[axis]);
            parts.push(builder.exprs.apply("({0} - {1})", &[sum, padding], Type::Int));
        }
        let position = builder.exprs.linear(&parts, &strides, 0);
        builder.set(*positions, position)?;
    }
    builder.set(output, most)
}

/// Pooling to an output size: each output is the mean, or the maximum with its position, of a part of the input.
pub fn adaptive(builder: &mut Builder<'_>, call: Call<'_>, spatial: usize, is_max: bool) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let (sizes, outputs, ty) = (call.sizes(input), call.output_sizes()?, builder.ty(output)?);
    let source = builder.repeated(input)?;
    let rank = sizes.len();
    let (mut coordinates, mut extents, mut starts) = (builder.exprs.coordinates(rank), Vec::new(), Vec::new());
    for axis in 0..spatial {
        let dim = rank - spatial + axis;
        let (outer, inner) = (coordinates[dim], builder.exprs.coordinate(rank + axis));
        let (from, to) = (builder.exprs.int(sizes[dim]), builder.exprs.int(outputs[dim]));
        let start = builder.exprs.apply("(({0} * {1}) / {2})", &[outer, from, to], Type::Int);
        let template = "((({0} + 1i) * {1} + {2} - 1i) / {2} - {3})";
        extents.push(builder.exprs.apply(template, &[outer, from, to, start], Type::Int));
        coordinates[dim] = builder.exprs.apply("({0} + {1})", &[start, inner], Type::Int);
        starts.push(start);
    }
    let body = builder.exprs.at(source, &coordinates);
    if !is_max {
        let sum = builder.exprs.fold_to(Fold::Sum, rank, extents.clone(), body);
        let count = product(builder, extents, ty);
        let expr = builder.exprs.apply("({0} / {1})", &[sum, count], ty);
        return builder.set(output, expr);
    }
    if let Some(positions) = call.node.outputs.get(1).filter(|id| call.links.read_count(**id) > 0) {
        // The number of the maximum within its part, whose extents differ from part to part.
        let mut rest = builder.exprs.fold_to(Fold::ArgMax, rank, extents.clone(), body);
        let mut parts = Vec::new();
        for (axis, extent) in extents.iter().enumerate().rev() {
            let start = starts[axis];
            parts.push(builder.exprs.apply("({0} % {1} + {2})", &[rest, *extent, start], Type::Int));
            rest = builder.exprs.apply("({0} / {1})", &[rest, *extent], Type::Int);
        }
        parts.reverse();
        let plane = &sizes[rank - spatial..];
        let position = builder.exprs.linear(&parts, &crate::tensor::dense_strides(plane, 0..spatial), 0);
        builder.set(*positions, position)?;
    }
    let most = builder.exprs.fold_to(Fold::Max, rank, extents, body);
    builder.set(output, most)
}
