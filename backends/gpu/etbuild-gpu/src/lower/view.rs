//! Views: the element at other coordinates.

use etbuild_backend::{Call, Refusal, RefusalKind, dim};

use crate::builder::Builder;
use crate::expr::{ExprId, Exprs, IndexOp};
use crate::types::Type;

use super::{Done, along, no_arguments};

/// The value itself, of another type perhaps.
pub fn identity(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let expr = builder.value(call.value(0)?)?;
    builder.set(call.output()?, expr)
}

/// Sets the first output to the first argument at these coordinates, each element of which is read at most once.
fn moved(builder: &mut Builder<'_>, call: &Call<'_>, coordinates: &[ExprId]) -> Done {
    let expr = builder.moved(call.value(0)?)?;
    let expr = builder.exprs.at(expr, coordinates);
    builder.set(call.output()?, expr)
}

/// Sets the first output to the first argument at these coordinates.
pub fn repeated(builder: &mut Builder<'_>, call: &Call<'_>, coordinates: &[ExprId]) -> Done {
    let expr = builder.repeated(call.value(0)?)?;
    let expr = builder.exprs.at(expr, coordinates);
    builder.set(call.output()?, expr)
}

/// Another shape with the elements in the same row-major order.
pub fn reshape(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let coordinates =
        reshaped(&mut builder.exprs, &builder.links.graph.spec(call.value(0)?).sizes.clone(), &call.output_sizes()?)?;
    moved(builder, &call, &coordinates)
}

/// The coordinates in a tensor of shape `from` for those in a tensor of shape `to`. Dimensions whose products agree are joined and
/// split by themselves, so that only those need a division.
pub fn reshaped(exprs: &mut Exprs, from: &[i32], to: &[usize]) -> Result<Vec<ExprId>, Refusal> {
    let from: Vec<usize> = from.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect();
    let mut coordinates = Vec::new();
    let (mut left, mut right) = (0, 0);
    while left < from.len() || right < to.len() {
        // The next run of dimensions on both sides with an equal number of elements.
        let (first_left, first_right) = (left, right);
        let (mut inner, mut outer) = (1, 1);
        loop {
            if inner <= outer && left < from.len() && (inner < outer || left == first_left) {
                inner *= from[left];
                left += 1;
            } else if right < to.len() && (outer < inner || right == first_right) {
                outer *= to[right];
                right += 1;
            } else if inner == outer {
                break;
            } else {
                return Err(Refusal::new(RefusalKind::Shape, "the shapes have other numbers of elements"));
            }
        }
        let dims = exprs.coordinates_of(first_right..right);
        coordinates.extend(run(exprs, &from[first_left..left], &to[first_right..right], &dims));
    }
    Ok(coordinates)
}

/// The coordinates of a run of dimensions `from` for the coordinates of a run `to`.
fn run(exprs: &mut Exprs, from: &[usize], to: &[usize], coordinates: &[ExprId]) -> Vec<ExprId> {
    let long = |sizes: &[usize]| sizes.iter().filter(|size| **size != 1).count();
    if long(from) == 0 {
        return from.iter().map(|_| exprs.int(0)).collect();
    }
    let strides = crate::tensor::dense_strides(to, 0..to.len());
    let strides: Vec<usize> =
        strides.iter().zip(to).map(|(stride, size)| if *size == 1 { 0 } else { *stride }).collect();
    let number = exprs.linear(coordinates, &strides, 0);
    let mut stride = 1;
    let mut parts: Vec<ExprId> = Vec::new();
    for (position, size) in from.iter().enumerate().rev() {
        let step = exprs.int(stride);
        let quotient = exprs.index(IndexOp::Div, number, step);
        let is_outermost = from[..position].iter().all(|size| *size == 1);
        let modulus = exprs.int(*size);
        parts.push(if is_outermost && *size > 1 { quotient } else { exprs.index(IndexOp::Rem, quotient, modulus) });
        stride *= size;
    }
    parts.reverse();
    parts
}

/// Permuted dimensions.
pub fn permute(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let rank = call.sizes(call.value(0)?).len();
    let dims = call.ints(1)?.iter().map(|number| dim(*number, rank)).collect::<Result<Vec<_>, _>>()?;
    permuted(builder, &call, &dims)
}

/// Dimension `d` of the output is dimension `dims[d]` of the input.
fn permuted(builder: &mut Builder<'_>, call: &Call<'_>, dims: &[usize]) -> Done {
    let mut coordinates = builder.exprs.coordinates(dims.len());
    for (position, dim) in dims.iter().enumerate() {
        *coordinates.get_mut(*dim).ok_or_else(no_arguments)? = builder.exprs.coordinate(position);
    }
    moved(builder, call, &coordinates)
}

/// Two exchanged dimensions.
pub fn transpose(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let rank = call.sizes(call.value(0)?).len();
    let mut dims: Vec<usize> = (0..rank).collect();
    if rank > 0 {
        dims.swap(along(&call, 1, rank)?, along(&call, 2, rank)?);
    }
    permuted(builder, &call, &dims)
}

/// A transposed matrix; a vector stays.
pub fn transpose_matrix(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let rank = call.sizes(call.value(0)?).len();
    permuted(builder, &call, &(0..rank).rev().collect::<Vec<_>>())
}

/// Broadcast dimensions.
pub fn expand(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let input = call.value(0)?;
    let (from, to) = (call.sizes(input), call.output_sizes()?);
    let expr = if from == to { builder.value(input)? } else { builder.repeated(input)? };
    let expr = builder.broadcast(expr, &from, &to);
    builder.set(call.output()?, expr)
}

/// The start of a slice: negative numbers count from the end.
pub fn start_of(number: Option<i64>, size: usize) -> usize {
    let number = number.unwrap_or(0);
    let size = size as i64;
    let start = if number < 0 { number.saturating_add(size) } else { number };
    start.clamp(0, size) as usize
}

/// Every `step`-th index of a dimension.
pub fn slice(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let sizes = call.sizes(call.value(0)?);
    let along = along(&call, 1, sizes.len())?;
    let start = start_of(call.int(2)?, sizes[along]);
    let step = usize::try_from(call.int(4)?.unwrap_or(1)).map_err(|_| no_arguments())?;
    sliced(builder, &call, along, start, step)
}

fn sliced(builder: &mut Builder<'_>, call: &Call<'_>, along: usize, start: usize, step: usize) -> Done {
    let mut coordinates = builder.exprs.coordinates(call.sizes(call.value(0)?).len());
    coordinates[along] = builder.exprs.linear(&[coordinates[along]], &[step], start);
    moved(builder, call, &coordinates)
}

/// A range of a dimension.
pub fn narrow(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let sizes = call.sizes(call.value(0)?);
    let along = along(&call, 1, sizes.len())?;
    sliced(builder, &call, along, start_of(call.int(2)?, sizes[along]), 1)
}

/// One index of a dimension.
pub fn select(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let sizes = call.sizes(call.value(0)?);
    let along = along(&call, 1, sizes.len())?;
    let index = dim(call.int(2)?.ok_or_else(no_arguments)?, sizes[along])?;
    let mut coordinates = builder.exprs.coordinates(sizes.len() - 1);
    coordinates.insert(along, builder.exprs.int(index));
    moved(builder, &call, &coordinates)
}

/// Reversed dimensions.
pub fn flip(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let sizes = call.sizes(call.value(0)?);
    let mut coordinates = builder.exprs.coordinates(sizes.len());
    for number in call.ints(1)? {
        let along = dim(*number, sizes.len())?;
        let last = builder.exprs.int(sizes[along].saturating_sub(1));
        coordinates[along] = builder.exprs.apply("({1} - {0})", &[coordinates[along], last], Type::Int);
    }
    moved(builder, &call, &coordinates)
}

/// Rotated dimensions; without dimensions, the elements in row-major order.
pub fn roll(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let sizes = call.sizes(call.value(0)?);
    let (shifts, dims) = (call.ints(1)?, call.ints(2)?);
    if dims.is_empty() && sizes.len() != 1 {
        let numel: usize = sizes.iter().product();
        let shift = shifts.first().ok_or_else(no_arguments)?.rem_euclid(numel.max(1) as i64) as usize;
        let coordinates = builder.exprs.coordinates(sizes.len());
        let strides = crate::tensor::dense_strides(&sizes, 0..sizes.len());
        let number = builder.exprs.linear(&coordinates, &strides, numel - shift);
        let count = builder.exprs.int(numel);
        let number = builder.exprs.index(IndexOp::Rem, number, count);
        let coordinates = unraveled(&mut builder.exprs, number, &sizes);
        return moved(builder, &call, &coordinates);
    }
    let dims = if dims.is_empty() { &[0] } else { dims };
    let mut coordinates = builder.exprs.coordinates(sizes.len());
    for (shift, number) in shifts.iter().zip(dims) {
        let along = dim(*number, sizes.len())?;
        let size = sizes[along].max(1);
        let shift = shift.rem_euclid(size as i64) as usize;
        let moved = builder.exprs.linear(&[coordinates[along]], &[1], size - shift);
        let size = builder.exprs.int(size);
        coordinates[along] = builder.exprs.index(IndexOp::Rem, moved, size);
    }
    moved(builder, &call, &coordinates)
}

/// The coordinates of an element by its number in row-major order.
pub fn unraveled(exprs: &mut Exprs, number: ExprId, sizes: &[usize]) -> Vec<ExprId> {
    let mut stride = 1;
    let mut coordinates: Vec<ExprId> = Vec::new();
    for size in sizes.iter().rev() {
        let (step, modulus) = (exprs.int(stride), exprs.int(*size));
        let quotient = exprs.index(IndexOp::Div, number, step);
        coordinates.push(exprs.index(IndexOp::Rem, quotient, modulus));
        stride *= size;
    }
    coordinates.reverse();
    coordinates
}

/// Repeated dimensions.
pub fn repeat(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (from, to) = (call.sizes(call.value(0)?), call.output_sizes()?);
    let added = to.len().checked_sub(from.len()).ok_or_else(no_arguments)?;
    let coordinates: Vec<ExprId> = (0..from.len())
        .map(|dim| {
            let (coordinate, size) = (builder.exprs.coordinate(dim + added), builder.exprs.int(from[dim]));
            if to[dim + added] == from[dim] { coordinate } else { builder.exprs.index(IndexOp::Rem, coordinate, size) }
        })
        .collect();
    repeated(builder, &call, &coordinates)
}

/// Channels to blocks of pixels.
pub fn pixel_shuffle(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    shuffled(builder, &call, false)
}

/// Blocks of pixels to channels.
pub fn pixel_unshuffle(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    shuffled(builder, &call, true)
}

fn shuffled(builder: &mut Builder<'_>, call: &Call<'_>, is_inverse: bool) -> Done {
    let rank = call.output_sizes()?.len();
    let factor = usize::try_from(call.int(1)?.unwrap_or(1)).map_err(|_| no_arguments())?;
    let mut at = builder.exprs.coordinates(rank);
    let [channel, y, x] = [rank - 3, rank - 2, rank - 1];
    let (step, block) = (builder.exprs.int(factor), builder.exprs.int(factor * factor));
    let exprs = &mut builder.exprs;
    if is_inverse {
        let inner = exprs.index(IndexOp::Rem, at[channel], block);
        let (row, column) = (exprs.index(IndexOp::Div, inner, step), exprs.index(IndexOp::Rem, inner, step));
        let blocks = [(y, row), (x, column)];
        for (dim, part) in blocks {
            let scaled = exprs.index(IndexOp::Mul, at[dim], step);
            at[dim] = exprs.index(IndexOp::Add, scaled, part);
        }
        at[channel] = exprs.index(IndexOp::Div, at[channel], block);
    } else {
        let (row, column) = (exprs.index(IndexOp::Rem, at[y], step), exprs.index(IndexOp::Rem, at[x], step));
        let whole = exprs.index(IndexOp::Mul, at[channel], block);
        let rows = exprs.index(IndexOp::Mul, row, step);
        let inner = exprs.index(IndexOp::Add, rows, column);
        at[channel] = exprs.index(IndexOp::Add, whole, inner);
        at[y] = exprs.index(IndexOp::Div, at[y], step);
        at[x] = exprs.index(IndexOp::Div, at[x], step);
    }
    moved(builder, call, &at)
}

/// The diagonal of two dimensions, which becomes the last dimension.
pub fn diagonal(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let rank = call.sizes(call.value(0)?).len();
    let offset = call.int(1)?.unwrap_or(0);
    let (first, second) = (dim(call.int(2)?.unwrap_or(0), rank)?, dim(call.int(3)?.unwrap_or(1), rank)?);
    let along = builder.exprs.coordinate(rank - 2);
    let mut others = builder.exprs.coordinates(rank - 2).into_iter();
    let down = builder.exprs.linear(&[along], &[1], usize::try_from(-offset).unwrap_or(0));
    let right = builder.exprs.linear(&[along], &[1], usize::try_from(offset).unwrap_or(0));
    let coordinates: Vec<ExprId> = (0..rank)
        .map(|dim| match dim {
            _ if dim == first => down,
            _ if dim == second => right,
            _ => others.next().unwrap_or(along),
        })
        .collect();
    moved(builder, &call, &coordinates)
}

/// Elements at strides in the row-major order of the input.
pub fn as_strided(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let sizes = call.sizes(call.value(0)?);
    let strides: Option<Vec<usize>> = call.ints(2)?.iter().map(|stride| usize::try_from(*stride).ok()).collect();
    let offset = usize::try_from(call.int(3)?.unwrap_or(0)).map_err(|_| no_arguments())?;
    let coordinates = builder.exprs.coordinates(call.output_sizes()?.len());
    let number = builder.exprs.linear(&coordinates, &strides.ok_or_else(no_arguments)?, offset);
    let coordinates = unraveled(&mut builder.exprs, number, &sizes);
    repeated(builder, &call, &coordinates)
}

/// Windows of a dimension, whose elements become the last dimension.
pub fn unfold(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let rank = call.sizes(call.value(0)?).len();
    let along = along(&call, 1, rank)?;
    let step = usize::try_from(call.int(3)?.unwrap_or(1)).map_err(|_| no_arguments())?;
    let mut coordinates = builder.exprs.coordinates(rank);
    let within = builder.exprs.coordinate(rank);
    coordinates[along] = builder.exprs.linear(&[coordinates[along], within], &[step, 1], 0);
    repeated(builder, &call, &coordinates)
}
