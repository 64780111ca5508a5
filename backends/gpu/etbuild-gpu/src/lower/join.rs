//! Operators that split and join tensors.

use etbuild_backend::{Call, dim};
use etbuild_ir::{Argument, ValueId};

use crate::builder::Builder;
use crate::expr::{ExprId, Exprs};
use crate::types::Type;

use super::view::start_of;
use super::{Done, along, no_arguments};

/// Parts of a dimension, each an output.
pub fn split(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let input = call.value(0)?;
    let rank = call.sizes(input).len();
    let along = along(&call, 2, rank)?;
    let mut start = 0;
    let source = builder.repeated(input)?;
    for output in &call.node.outputs {
        let mut coordinates = builder.exprs.coordinates(rank);
        coordinates[along] = builder.exprs.linear(&[coordinates[along]], &[1], start);
        let part = builder.exprs.at(source, &coordinates);
        start += call.sizes(*output).get(along).copied().unwrap_or(0);
        builder.set(*output, part)?;
    }
    Ok(())
}

/// Every index of a dimension, each an output.
pub fn unbind(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let input = call.value(0)?;
    let rank = call.sizes(input).len();
    let along = along(&call, 1, rank)?;
    let source = builder.repeated(input)?;
    for (index, output) in call.node.outputs.iter().enumerate() {
        let mut coordinates = builder.exprs.coordinates(rank - 1);
        coordinates.insert(along, builder.exprs.int(index));
        let part = builder.exprs.at(source, &coordinates);
        builder.set(*output, part)?;
    }
    Ok(())
}

/// Concatenation along a dimension.
pub fn cat(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let sizes = call.output_sizes()?;
    let (along, ty) = (along(&call, 1, sizes.len())?, builder.ty(call.output()?)?);
    let mut parts = Vec::new();
    for id in call.values(0)?.into_iter().filter(|id| call.sizes(*id).len() == sizes.len()) {
        let part = builder.moved(id)?;
        parts.push((builder.exprs.cast(part, ty), call.sizes(id)[along]));
    }
    let whole = concatenated(&mut builder.exprs, sizes.len(), along, &parts);
    builder.set(call.output()?, whole.ok_or_else(no_arguments)?)
}

/// Concatenation along a new dimension.
pub fn stack(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let sizes = call.output_sizes()?;
    let (along, ty) = (along(&call, 1, sizes.len())?, builder.ty(call.output()?)?);
    let mut coordinates = builder.exprs.coordinates(sizes.len());
    coordinates.remove(along);
    let mut parts = Vec::new();
    for id in call.values(0)? {
        let part = builder.moved(id)?;
        let part = builder.exprs.cast(part, ty);
        parts.push((builder.exprs.at(part, &coordinates), 1));
    }
    let whole = joined(&mut builder.exprs, along, &parts);
    builder.set(call.output()?, whole.ok_or_else(no_arguments)?)
}

/// The concatenation of tensors of a rank with these lengths along a dimension; `None` of no tensors.
pub fn concatenated(exprs: &mut Exprs, rank: usize, along: usize, parts: &[(ExprId, usize)]) -> Option<ExprId> {
    let mut at = exprs.coordinates(rank);
    let (position, mut start) = (at[along], 0);
    let mut moved = Vec::new();
    for (part, length) in parts {
        if start > 0 {
            let begin = exprs.int(start);
            at[along] = exprs.apply("({0} - {1})", &[position, begin], Type::Int);
        }
        moved.push((exprs.at(*part, &at), *length));
        start += length;
    }
    joined(exprs, along, &moved)
}

/// The expression that takes each part for the part's length of indices of a dimension; `None` of no parts.
pub fn joined(exprs: &mut Exprs, along: usize, parts: &[(ExprId, usize)]) -> Option<ExprId> {
    let position = exprs.coordinate(along);
    let mut end: usize = parts.iter().map(|(_, length)| length).sum();
    let mut whole: Option<ExprId> = None;
    for (part, length) in parts.iter().rev() {
        let limit = exprs.int(end);
        whole = Some(whole.map_or(*part, |rest| {
            let is_here = exprs.apply("({0} < {1})", &[position, limit], Type::Bool);
            exprs.choose(is_here, *part, rest)
        }));
        end -= length;
    }
    whole
}

/// A slice replaced by another tensor.
pub fn slice_scatter(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, part) = (call.value(0)?, call.value(1)?);
    let sizes = call.sizes(input);
    let along = along(&call, 2, sizes.len())?;
    let start = start_of(call.int(3)?, sizes[along]);
    let step = usize::try_from(call.int(5)?.unwrap_or(1)).map_err(|_| no_arguments())?.max(1);
    let length = call.sizes(part)[along];
    let mut coordinates = builder.exprs.coordinates(sizes.len());
    let begin = builder.exprs.int(start);
    let moved = builder.exprs.apply("({0} - {1})", &[coordinates[along], begin], Type::Int);
    let (step, length) = (builder.exprs.int(step), builder.exprs.int(length));
    let is_inside = "({0} >= 0i && {0} % {1} == 0i && {0} / {1} < {2})";
    let is_inside = builder.exprs.apply(is_inside, &[moved, step, length], Type::Bool);
    coordinates[along] = builder.exprs.apply("({0} / {1})", &[moved, step], Type::Int);
    replaced(builder, &call, part, is_inside, &coordinates)
}

/// One index of a dimension replaced by another tensor.
pub fn select_scatter(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, part) = (call.value(0)?, call.value(1)?);
    let sizes = call.sizes(input);
    let along = along(&call, 2, sizes.len())?;
    let index = dim(call.int(3)?.ok_or_else(no_arguments)?, sizes[along])?;
    let mut coordinates = builder.exprs.coordinates(sizes.len());
    let index = builder.exprs.int(index);
    let is_inside = builder.exprs.apply("({0} == {1})", &[coordinates[along], index], Type::Bool);
    coordinates.remove(along);
    replaced(builder, &call, part, is_inside, &coordinates)
}

fn replaced(builder: &mut Builder<'_>, call: &Call<'_>, part: ValueId, is_inside: ExprId, at: &[ExprId]) -> Done {
    let ty = builder.ty(call.output()?)?;
    let whole = builder.moved(call.value(0)?)?;
    let part = builder.moved(part)?;
    let part = builder.exprs.cast(part, ty);
    let part = builder.exprs.at(part, at);
    let expr = builder.exprs.choose(is_inside, part, whole);
    builder.set(call.output()?, expr)
}

/// `copy`: the second tensor in the type and shape of the first.
pub fn copy(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let source = call.node.arguments.get(1).ok_or_else(no_arguments)?;
    let (ty, sizes) = (builder.ty(call.output()?)?, call.output_sizes()?);
    let Argument::Value(_) = source else { return Err(no_arguments()) };
    let expr = builder.argument_as(source, &sizes, ty)?;
    builder.set(call.output()?, expr)
}

/// Gated linear unit: the first half of a dimension times the sigmoid of the second half.
pub fn glu(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let input = call.value(0)?;
    let sizes = call.sizes(input);
    let along = along(&call, 1, sizes.len())?;
    let source = builder.repeated(input)?;
    let first = builder.exprs.coordinates(sizes.len());
    let mut second = first.clone();
    second[along] = builder.exprs.linear(&[first[along]], &[1], sizes[along] / 2);
    let parts = [builder.exprs.at(source, &first), builder.exprs.at(source, &second)];
    let expr = builder.exprs.apply("({0} * sigmoid_f32({1}))", &parts, Type::Float);
    builder.set(call.output()?, expr)
}
