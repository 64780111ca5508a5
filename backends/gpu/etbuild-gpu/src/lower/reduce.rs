//! Reductions, norms and scans: folds over dimensions.

use et_core::ScalarType;
use etbuild_backend::{Call, Refusal, RefusalKind, dim};
use etbuild_ir::Argument;

use crate::builder::Builder;
use crate::expr::{ExprId, Fold};
use crate::types::Type;

use super::{Done, along};

/// The dimensions that a reduction folds, and whether they stay with size 1.
#[derive(Clone, Debug)]
pub struct Dims {
    /// The dimensions, sorted.
    pub folded: Vec<usize>,
    /// Whether they stay.
    pub keeps: bool,
}

impl Dims {
    /// The dimensions of a list argument; all for none.
    pub fn list(call: &Call<'_>, position: usize, keeps: Option<usize>) -> Result<Self, Refusal> {
        let rank = call.sizes(call.value(0)?).len();
        let numbers: Vec<i64> = match call.node.arguments.get(position) {
            Some(Argument::Int(number)) => vec![*number],
            _ => call.ints(position)?.to_vec(),
        };
        let mut folded = numbers.iter().map(|number| dim(*number, rank)).collect::<Result<Vec<_>, _>>()?;
        if folded.is_empty() {
            folded = (0..rank).collect();
        }
        folded.sort_unstable();
        folded.dedup();
        folded.retain(|dim| *dim < rank);
        let keeps = keeps.map(|keeps| call.flag(keeps)).transpose()?.unwrap_or(false);
        Ok(Self { folded, keeps })
    }
}

/// Folds of more elements for a result are split, so that invocations share the work, and loops stay short.
const MOST_FOLDED: usize = 4096;

/// The elements that the first part of a split fold takes.
const PART: usize = 1024;

/// The fold of an expression of a shape over dimensions, at the coordinates of the reduced tensor. A long fold is one of stored folds.
pub fn fold(
    builder: &mut Builder<'_>,
    how: Fold,
    element: ExprId,
    sizes: &[usize],
    dims: &Dims,
) -> Result<ExprId, Refusal> {
    let is_position = matches!(how, Fold::ArgMax | Fold::ArgMin);
    if count(sizes, dims) <= MOST_FOLDED || is_position {
        return Ok(short_fold(builder, how, element, sizes, dims));
    }
    let Some((last, outer)) = dims.folded.split_last() else { return Ok(element) };
    if sizes[*last] > MOST_FOLDED || outer.is_empty() {
        let (element, sizes, dims) = in_parts(builder, how, element, sizes, dims, *last)?;
        return fold(builder, how, element, &sizes, &dims);
    }
    // The innermost dimension first.
    let inner = Dims { folded: vec![*last], keeps: true };
    let part = short_fold(builder, how, element, sizes, &inner);
    let mut kept = sizes.to_vec();
    kept[*last] = 1;
    let part = builder.store_part(part, kept.clone())?;
    let rest = Dims { folded: outer.to_vec(), keeps: true };
    let whole = fold(builder, how, part, &kept, &rest)?;
    Ok(reduced(builder, whole, sizes.len(), dims))
}

/// An expression whose dimension `dim` is folded in parts, which are stored; the shape of the parts, and the dimensions.
fn in_parts(
    builder: &mut Builder<'_>,
    how: Fold,
    element: ExprId,
    sizes: &[usize],
    dims: &Dims,
    dim: usize,
) -> Result<(ExprId, Vec<usize>, Dims), Refusal> {
    let (rank, extent) = (sizes.len(), sizes[dim]);
    let mut at = builder.exprs.coordinates(rank);
    let part = at[dim];
    let inner = builder.exprs.coordinate(rank);
    at[dim] = builder.exprs.linear(&[part, inner], &[PART, 1], 0);
    let body = builder.exprs.at(element, &at);
    let [length, extent_expr] = [PART, extent].map(|size| builder.exprs.int(size));
    let here = match extent.is_multiple_of(PART) {
        true => length,
        false => builder.exprs.apply("min({0}, {1} - {2} * {0})", &[length, extent_expr, part], Type::Int),
    };
    let folded = builder.exprs.fold_to(how, rank, vec![here], body);
    let mut parts = sizes.to_vec();
    parts[dim] = extent.div_ceil(PART);
    let stored = builder.store_part(folded, parts.clone())?;
    Ok((stored, parts, dims.clone()))
}

/// An expression of kept dimensions at the coordinates of the reduced tensor.
pub fn reduced(builder: &mut Builder<'_>, kept: ExprId, rank: usize, dims: &Dims) -> ExprId {
    let mut outer = 0;
    let coordinates: Vec<ExprId> = (0..rank)
        .map(|dim| {
            let is_folded = dims.folded.contains(&dim);
            let coordinate = if is_folded { builder.exprs.int(0) } else { builder.exprs.coordinate(outer) };
            outer += usize::from(!is_folded || dims.keeps);
            coordinate
        })
        .collect();
    builder.exprs.at(kept, &coordinates)
}

/// The fold as one loop.
fn short_fold(builder: &mut Builder<'_>, fold: Fold, element: ExprId, sizes: &[usize], dims: &Dims) -> ExprId {
    let rank = if dims.keeps { sizes.len() } else { sizes.len() - dims.folded.len() };
    let mut outer = 0;
    let mut coordinates = Vec::new();
    for dim in 0..sizes.len() {
        if let Some(position) = dims.folded.iter().position(|folded| *folded == dim) {
            coordinates.push(builder.exprs.coordinate(rank + position));
            outer += usize::from(dims.keeps);
        } else {
            coordinates.push(builder.exprs.coordinate(outer));
            outer += 1;
        }
    }
    let body = builder.exprs.at(element, &coordinates);
    let extents: Vec<usize> = dims.folded.iter().map(|dim| sizes[*dim]).collect();
    if extents.is_empty() && !matches!(fold, Fold::ArgMax | Fold::ArgMin) {
        return body;
    }
    builder.exprs.fold(fold, rank, &extents, body)
}

/// The number of elements that are folded to one.
pub fn count(sizes: &[usize], dims: &Dims) -> usize {
    dims.folded.iter().map(|dim| sizes[*dim]).product()
}

/// A fold in the type of the output.
pub fn reduce(builder: &mut Builder<'_>, call: Call<'_>, how: Fold, dims: usize, keeps: Option<usize>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let dims = if dims == 0 { all(&call)? } else { Dims::list(&call, dims, keeps)? };
    let ty = if how == Fold::Any { Type::Bool } else { builder.ty(output)? };
    if how == Fold::Product && matches!(call.graph.spec(output).scalar_type, ScalarType::Half | ScalarType::BFloat16) {
        return Err(Refusal::new(RefusalKind::Type, "a product of 16-bit numbers rounds at each step"));
    }
    let source = builder.moved(input)?;
    let source = builder.exprs.cast(source, ty);
    let expr = fold(builder, how, source, &call.sizes(input), &dims)?;
    builder.set(output, expr)
}

/// Whether any element is true, over a list of dimensions: of none, each element by itself.
pub fn any_of(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    if !matches!(call.node.arguments.get(1), Some(Argument::Ints(dims)) if dims.is_empty()) {
        return reduce(builder, call, Fold::Any, 1, Some(2));
    }
    let expr = builder.value(call.value(0)?)?;
    let expr = builder.exprs.cast(expr, Type::Bool);
    builder.set(call.output()?, expr)
}

/// All dimensions.
fn all(call: &Call<'_>) -> Result<Dims, Refusal> {
    Ok(Dims { folded: (0..call.sizes(call.value(0)?).len()).collect(), keeps: false })
}

/// The mean.
pub fn mean(builder: &mut Builder<'_>, call: Call<'_>, dims: usize) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let dims = if dims == 0 { all(&call)? } else { Dims::list(&call, dims, Some(2))? };
    let (sizes, ty) = (call.sizes(input), builder.ty(output)?);
    let source = builder.moved(input)?;
    let source = builder.exprs.cast(source, ty);
    let expr = mean_of(builder, source, &sizes, &dims)?;
    builder.set(output, expr)
}

pub fn mean_of(builder: &mut Builder<'_>, source: ExprId, sizes: &[usize], dims: &Dims) -> Result<ExprId, Refusal> {
    let sum = fold(builder, Fold::Sum, source, sizes, dims)?;
    let ty = builder.exprs.ty(sum);
    let count = builder.exprs.number(count(sizes, dims) as f64, ty);
    Ok(builder.exprs.quotient(sum, count))
}

/// Extremes along a dimension, and their positions.
pub fn extreme(builder: &mut Builder<'_>, call: Call<'_>, [value, position]: [Fold; 2]) -> Done {
    let input = call.value(0)?;
    let dims = Dims::list(&call, 1, Some(2))?;
    let sizes = call.sizes(input);
    let source = builder.repeated(input)?;
    let folds = [fold(builder, value, source, &sizes, &dims)?, fold(builder, position, source, &sizes, &dims)?];
    for (output, expr) in call.node.outputs.iter().zip(folds) {
        builder.set(*output, expr)?;
    }
    Ok(())
}

/// The position of an extreme along a dimension, or among all elements.
pub fn position(builder: &mut Builder<'_>, call: Call<'_>, how: Fold) -> Done {
    let input = call.value(0)?;
    let dims = match call.int(1)? {
        None => Dims { keeps: call.flag(2)?, ..all(&call)? },
        Some(_) => Dims::list(&call, 1, Some(2))?,
    };
    let source = builder.moved(input)?;
    let expr = fold(builder, how, source, &call.sizes(input), &dims)?;
    builder.set(call.output()?, expr)
}

/// The sum of the elements up to each, along a dimension.
pub fn cumsum(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let sizes = call.sizes(input);
    let ty = builder.ty(output)?;
    let source = builder.repeated(input)?;
    let source = builder.exprs.cast(source, ty);
    if sizes.is_empty() {
        return builder.set(output, source);
    }
    let along = along(&call, 1, sizes.len())?;
    let mut coordinates = builder.exprs.coordinates(sizes.len());
    let end = builder.exprs.linear(&[coordinates[along]], &[1], 1);
    coordinates[along] = builder.exprs.coordinate(sizes.len());
    let body = builder.exprs.at(source, &coordinates);
    let expr = builder.exprs.fold_to(Fold::Sum, sizes.len(), vec![end], body);
    builder.set(output, expr)
}
