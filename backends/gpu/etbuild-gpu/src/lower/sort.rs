//! Sorting: the place of an element is the number of elements that come before it.

use etbuild_backend::{Call, Refusal, RefusalKind};
use etbuild_ir::ValueId;

use crate::builder::Builder;
use crate::expr::{ExprId, Fold};
use crate::types::Type;

use super::view::unraveled;
use super::{Done, along};

/// The order of the elements along a dimension: the place of an element is the number of elements that come before it.
struct Order {
    source: ExprId,
    along: usize,
    rank: usize,
    extent: usize,
    /// The places, at the coordinates of the tensor.
    places: ExprId,
}

impl Order {
    fn of(builder: &mut Builder<'_>, input: ValueId, along: usize, descending: bool) -> Result<Self, Refusal> {
        let (sizes, source) = (builder.sizes(input), builder.repeated(input)?);
        Self::of_expr(builder, source, sizes, along, descending)
    }

    /// The order of an expression of a shape.
    fn of_expr(
        builder: &mut Builder<'_>,
        source: ExprId,
        sizes: Vec<usize>,
        along: usize,
        descending: bool,
    ) -> Result<Self, Refusal> {
        let rank = sizes.len();
        let ty = builder.exprs.ty(source);
        if ty == Type::Double {
            return Err(Refusal::new(RefusalKind::Type, "numbers in float64 are not sorted"));
        }
        let source = if ty == Type::Bool { builder.exprs.cast(source, Type::Int) } else { source };
        let at = builder.exprs.coordinates(rank);
        let mut other = at.clone();
        other[along] = builder.exprs.coordinate(rank);
        let element = builder.exprs.at(source, &other);
        let template = match (ty.is_float(), descending) {
            // NaN is greater than every number.
            (true, false) => {
                "(({0} < {1} || (is_nan({1}) && !is_nan({0}))) || \
                 (({0} == {1} || (is_nan({0}) && is_nan({1}))) && {2} < {3}))"
            }
            (true, true) => {
                "(({0} > {1} || (is_nan({0}) && !is_nan({1}))) || \
                 (({0} == {1} || (is_nan({0}) && is_nan({1}))) && {2} < {3}))"
            }
            (false, false) => "({0} < {1} || ({0} == {1} && {2} < {3}))",
            (false, true) => "({0} > {1} || ({0} == {1} && {2} < {3}))",
        };
        let is_before = builder.exprs.apply(template, &[element, source, other[along], at[along]], Type::Bool);
        let one = builder.exprs.cast(is_before, Type::Int);
        let place = builder.exprs.fold(Fold::Sum, rank, &[sizes[along]], one);
        let places = builder.store_part(place, sizes.clone())?;
        Ok(Self { source, along, rank, extent: sizes[along], places })
    }

    /// The position of the element at a place, which is an expression of the coordinates of the result; and the element. The result
    /// has the dimension, or lacks it.
    fn element(&self, builder: &mut Builder<'_>, place: ExprId, keeps: bool) -> [ExprId; 2] {
        let rank = if keeps { self.rank } else { self.rank - 1 };
        let mut at = builder.exprs.coordinates(rank);
        if !keeps {
            at.insert(self.along, builder.exprs.int(0));
        }
        let further = builder.exprs.coordinate(rank);
        at[self.along] = further;
        let own = builder.exprs.at(self.places, &at);
        let is_here = builder.exprs.apply("({0} == {1})", &[own, place], Type::Bool);
        let none = builder.exprs.int(0);
        let found = builder.exprs.apply("select({2}, {1}, {0})", &[is_here, further, none], Type::Int);
        let position = builder.exprs.fold(Fold::Max, rank, &[self.extent], found);
        at[self.along] = position;
        [builder.exprs.at(self.source, &at), position]
    }
}

/// Sorted elements along a dimension, or the first of them, and their positions.
pub fn sort(builder: &mut Builder<'_>, call: Call<'_>, along: usize, descending: bool) -> Done {
    let order = Order::of(builder, call.value(0)?, along, descending)?;
    let place = builder.exprs.coordinate(along);
    let results = order.element(builder, place, true);
    for (output, expr) in call.node.outputs.iter().zip(results) {
        builder.set(*output, expr)?;
    }
    Ok(())
}

/// The middle element along a dimension, the lower of two, and its position. The median is NaN if any element is NaN.
pub fn median(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let input = call.value(0)?;
    let along = along(&call, 1, call.sizes(input).len())?;
    let order = Order::of(builder, input, along, false)?;
    let results = order.middle(builder, call.flag(2)?);
    for (output, expr) in call.node.outputs.iter().zip(results) {
        builder.set(*output, expr)?;
    }
    Ok(())
}

/// The middle of all elements.
pub fn median_of_all(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let input = call.value(0)?;
    let (sizes, source) = (call.sizes(input), builder.repeated(input)?);
    let number = builder.exprs.coordinate(0);
    let at = unraveled(&mut builder.exprs, number, &sizes);
    let flat = builder.exprs.at(source, &at);
    let order = Order::of_expr(builder, flat, vec![sizes.iter().product()], 0, false)?;
    let [middle, _] = order.middle(builder, false);
    builder.set(call.output()?, middle)
}

impl Order {
    /// The middle element, the lower of two, and its position.
    fn middle(&self, builder: &mut Builder<'_>, keeps: bool) -> [ExprId; 2] {
        let middle = builder.exprs.int((self.extent - 1) / 2);
        if builder.exprs.ty(self.source) != Type::Float {
            return self.element(builder, middle, keeps);
        }
        // Numbers come before NaN.
        let rank = if keeps { self.rank } else { self.rank - 1 };
        let mut at = builder.exprs.coordinates(rank);
        if !keeps {
            at.insert(self.along, middle);
        }
        at[self.along] = builder.exprs.coordinate(rank);
        let element = builder.exprs.at(self.source, &at);
        let is_number = builder.exprs.apply("select(1i, 0i, is_nan({0}))", &[element], Type::Int);
        let numbers = builder.exprs.fold(Fold::Sum, rank, &[self.extent], is_number);
        let size = builder.exprs.int(self.extent);
        let place = builder.exprs.apply("select({0}, {1}, {1} < {2})", &[middle, numbers, size], Type::Int);
        self.element(builder, place, keeps)
    }
}

/// Sorts along a dimension; the arguments of the dimension and of the order.
pub fn sorted(builder: &mut Builder<'_>, call: Call<'_>, dim: usize, descending: usize) -> Done {
    let along = along(&call, dim, call.sizes(call.value(0)?).len())?;
    sort(builder, call, along, call.flag(descending)?)
}

/// The greatest or smallest elements of a dimension, in order.
pub fn topk(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let along = along(&call, 2, call.sizes(call.value(0)?).len())?;
    sort(builder, call, along, call.flag(3)?)
}
