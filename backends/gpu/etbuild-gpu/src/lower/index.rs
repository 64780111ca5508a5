//! Operators that read or write elements at computed positions.

use etbuild_backend::{Call, Refusal, RefusalKind};
use etbuild_ir::{Argument, ValueId};

use crate::builder::Builder;
use crate::expr::{ExprId, Fold};
use crate::types::Type;

use super::elementwise::promoted;
use super::{Done, along, no_arguments};

/// An index tensor as coordinates: negative indices count from the end, and others are clamped to the dimension.
fn indices(builder: &mut Builder<'_>, id: ValueId, size: usize) -> Result<ExprId, Refusal> {
    let source = builder.repeated(id)?;
    if builder.exprs.ty(source) == Type::Bool {
        return Err(Refusal::new(RefusalKind::Type, "a mask selects elements"));
    }
    let source = builder.exprs.cast(source, Type::Int);
    let (size, last) = (builder.exprs.int(size), builder.exprs.int(size.saturating_sub(1)));
    let template = "clamp(select({0}, {0} + {1}, {0} < 0i), 0i, {2})";
    Ok(builder.exprs.apply(template, &[source, size, last], Type::Int))
}

/// Rows of a table.
pub fn embedding(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (table, ids) = (call.value(0)?, call.value(1)?);
    let rank = call.sizes(ids).len();
    let index = indices(builder, ids, call.sizes(table)[0])?;
    let column = builder.exprs.coordinate(rank);
    let source = builder.repeated(table)?;
    let expr = builder.exprs.at(source, &[index, column]);
    builder.set(call.output()?, expr)
}

/// The elements at a list of indices of a dimension, or at an index `of_each` element of the output.
pub fn gather(builder: &mut Builder<'_>, call: Call<'_>, of_each: bool) -> Done {
    let (input, ids) = (call.value(0)?, call.value(2)?);
    let sizes = call.sizes(input);
    let source = builder.repeated(input)?;
    if sizes.is_empty() {
        return builder.set(call.output()?, source);
    }
    let along = along(&call, 1, sizes.len())?;
    let mut coordinates = builder.exprs.coordinates(sizes.len());
    let index = indices(builder, ids, sizes[along])?;
    let at = if of_each { &coordinates[..] } else { &coordinates[along..=along] };
    coordinates[along] = builder.exprs.broadcast(index, &call.sizes(ids), at);
    let expr = builder.exprs.at(source, &coordinates);
    builder.set(call.output()?, expr)
}

/// The tensors that index a value, by dimension.
fn index_tensors(call: &Call<'_>) -> Result<Vec<Option<ValueId>>, Refusal> {
    match call.node.arguments.get(1) {
        Some(Argument::Values(ids)) => Ok(ids.clone()),
        _ => Err(no_arguments()),
    }
}

/// `tensor[indices]`: the dimensions of the broadcast indices stand where the first index is, or first if indices are apart.
pub fn index(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let input = call.value(0)?;
    let (sizes, ids) = (call.sizes(input), index_tensors(&call)?);
    let places = IndexPlaces::of(&call, &ids, sizes.len());
    let source = builder.repeated(input)?;
    let at = builder.exprs.coordinates_of(places.start..places.start + places.shape.len());
    let mut coordinates = Vec::new();
    let mut next = 0;
    for (dim, size) in sizes.iter().enumerate() {
        if next == places.start {
            next += places.shape.len();
        }
        match ids.get(dim).copied().flatten() {
            Some(id) => coordinates.push(broadcast_indices(builder, id, *size, &at)?),
            None => {
                coordinates.push(builder.exprs.coordinate(next));
                next += 1;
            }
        }
    }
    let expr = builder.exprs.at(source, &coordinates);
    builder.set(call.output()?, expr)
}

/// The dimensions of broadcast indices in the output of an index.
struct IndexPlaces {
    start: usize,
    shape: Vec<usize>,
}

impl IndexPlaces {
    fn of(call: &Call<'_>, ids: &[Option<ValueId>], rank: usize) -> Self {
        let dims: Vec<usize> = (0..rank).filter(|dim| ids.get(*dim).copied().flatten().is_some()).collect();
        let are_together = dims.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let start = if are_together { dims.first().copied().unwrap_or(0) } else { 0 };
        let mut shape: Vec<usize> = Vec::new();
        for id in ids.iter().copied().flatten() {
            let sizes = call.sizes(id);
            let longer = sizes.len().max(shape.len());
            let padded = |sizes: &[usize]| [vec![1; longer - sizes.len()], sizes.to_vec()].concat();
            shape = padded(&shape).into_iter().zip(padded(&sizes)).map(|(left, right)| left.max(right)).collect();
        }
        Self { start, shape }
    }
}

/// The index tensor of a dimension, at the coordinates of the broadcast indices.
fn broadcast_indices(builder: &mut Builder<'_>, id: ValueId, size: usize, at: &[ExprId]) -> Result<ExprId, Refusal> {
    let sizes = builder.sizes(id);
    let index = indices(builder, id, size)?;
    Ok(builder.exprs.broadcast(index, &sizes, at))
}

/// The elements of a source that go to each place: found by a search over the source, whose last match counts.
struct Search {
    /// The sizes that are searched.
    extents: Vec<usize>,
    /// Whether the element at the further coordinates goes to the place.
    is_match: ExprId,
    /// The element.
    element: ExprId,
}

impl Search {
    /// The last element that goes to a place, or what was there.
    fn replaced(&self, builder: &mut Builder<'_>, before: ExprId, rank: usize) -> ExprId {
        let number = self.number(builder, rank);
        let none = builder.exprs.literal(crate::types::Literal::Int(-1));
        let found = builder.exprs.apply("select({2}, {1}, {0})", &[self.is_match, number, none], Type::Int);
        let last = builder.exprs.fold(Fold::Max, rank, &self.extents, found);
        let is_found = builder.exprs.apply("({0} >= 0i)", &[last], Type::Bool);
        let mut coordinates = builder.exprs.coordinates(rank);
        coordinates.extend(super::view::unraveled(&mut builder.exprs, last, &self.extents));
        let element = builder.exprs.at(self.element, &coordinates);
        builder.exprs.choose(is_found, element, before)
    }

    /// The sum of the elements that go to a place, and of what was there.
    fn added(&self, builder: &mut Builder<'_>, before: ExprId, rank: usize) -> Result<ExprId, Refusal> {
        let ty = builder.exprs.ty(before);
        if ty == Type::Bool {
            return Err(Refusal::new(RefusalKind::Type, "booleans are added"));
        }
        let zero = builder.exprs.number(0.0, ty);
        let part = builder.exprs.apply("select({2}, {1}, {0})", &[self.is_match, self.element, zero], ty);
        let sum = builder.exprs.fold(Fold::Sum, rank, &self.extents, part);
        Ok(builder.exprs.apply("({0} + {1})", &[before, sum], ty))
    }

    /// The number of the searched element in row-major order.
    fn number(&self, builder: &mut Builder<'_>, rank: usize) -> ExprId {
        let strides = crate::tensor::dense_strides(&self.extents, 0..self.extents.len());
        let further = builder.exprs.coordinates_of(rank..rank + self.extents.len());
        builder.exprs.linear(&further, &strides, 0)
    }
}

/// `scatter`: elements of the source, or a number, at the indices of a dimension.
pub fn scatter(builder: &mut Builder<'_>, call: Call<'_>, adds: bool) -> Done {
    let (input, ids, output) = (call.value(0)?, call.value(2)?, call.output()?);
    let (sizes, index_sizes, ty) = (call.sizes(input), call.sizes(ids), builder.ty(output)?);
    if sizes.is_empty() {
        return Err(Refusal::new(RefusalKind::Shape, "the tensor is a scalar"));
    }
    let (rank, along) = (sizes.len(), along(&call, 1, sizes.len())?);
    let before = builder.repeated(input)?;
    let before = builder.exprs.cast(before, ty);
    let index = indices(builder, ids, sizes[along])?;
    let mut at = builder.exprs.coordinates(rank);
    let target = at[along];
    at[along] = builder.exprs.coordinate(rank);
    // Places beyond the index tensor get nothing: coordinates stay inside, and the match is false.
    let mut conditions = Vec::new();
    for dim in (0..rank).filter(|dim| *dim != along && index_sizes[*dim] < sizes[*dim]) {
        let size = builder.exprs.int(index_sizes[dim]);
        conditions.push(builder.exprs.apply("({0} < {1})", &[at[dim], size], Type::Bool));
        at[dim] = builder.exprs.apply("min({0}, {1} - 1i)", &[at[dim], size], Type::Int);
    }
    let index = builder.exprs.at(index, &at);
    conditions.push(builder.exprs.apply("({0} == {1})", &[index, target], Type::Bool));
    let is_match = builder.exprs.all(conditions).ok_or_else(no_arguments)?;
    let element = match call.node.arguments.get(3) {
        Some(Argument::Value(id)) => {
            let source = builder.repeated(*id)?;
            let source = builder.exprs.cast(source, ty);
            builder.exprs.at(source, &at)
        }
        Some(number) => builder.argument_as(number, &sizes, ty)?,
        None => return Err(no_arguments()),
    };
    let search = Search { extents: vec![index_sizes[along]], is_match, element };
    let expr = if adds { search.added(builder, before, rank)? } else { search.replaced(builder, before, rank) };
    builder.set(output, expr)
}

/// `index_put`: elements at places that index tensors state.
pub fn index_put(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, values, output) = (call.value(0)?, call.value(2)?, call.output()?);
    let (sizes, ids, ty) = (call.sizes(input), index_tensors(&call)?, builder.ty(output)?);
    let rank = sizes.len();
    let places = IndexPlaces::of(&call, &ids, rank);
    let before = builder.repeated(input)?;
    let further = builder.exprs.coordinates_of(rank..rank + places.shape.len());
    let (mut conditions, mut kept) = (Vec::new(), Vec::new());
    for (dim, size) in sizes.iter().enumerate() {
        let target = builder.exprs.coordinate(dim);
        let Some(id) = ids.get(dim).copied().flatten() else {
            kept.push(target);
            continue;
        };
        let index = broadcast_indices(builder, id, *size, &further)?;
        conditions.push(builder.exprs.apply("({0} == {1})", &[index, target], Type::Bool));
    }
    let is_match = builder.exprs.all(conditions).ok_or_else(no_arguments)?;
    let at = [&kept[..places.start], &further, &kept[places.start..]].concat();
    let source = builder.repeated(values)?;
    let source = builder.exprs.cast(source, ty);
    let element = builder.exprs.broadcast(source, &call.sizes(values), &at);
    let search = Search { extents: places.shape.clone(), is_match, element };
    let expr =
        if call.flag(3)? { search.added(builder, before, rank)? } else { search.replaced(builder, before, rank) };
    builder.set(output, expr)
}

/// The number of boundaries below each element.
pub fn bucketize(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, boundaries) = (call.value(0)?, call.value(1)?);
    let (rank, size) = (call.sizes(input).len(), call.sizes(boundaries)[0]);
    let ty = promoted(builder, &call);
    let (element, edges) = (builder.repeated(input)?, builder.repeated(boundaries)?);
    let (element, edges) = (builder.exprs.cast(element, ty), builder.exprs.cast(edges, ty));
    let edge = builder.exprs.coordinate(rank);
    let edge = builder.exprs.at(edges, &[edge]);
    let is_right = call.flag(3)?;
    let template = if is_right { "(!({0} > {1}))" } else { "(!({0} >= {1}))" };
    let is_below = builder.exprs.apply(template, &[edge, element], Type::Bool);
    let one = builder.exprs.cast(is_below, Type::Int);
    let expr = builder.exprs.fold(Fold::Sum, rank, &[size], one);
    builder.set(call.output()?, expr)
}
