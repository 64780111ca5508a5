//! Padding, and triangles of matrices.

use etbuild_backend::Call;

use crate::builder::Builder;
use crate::types::{Literal, Type};

use super::Done;
use super::view::repeated;

/// Padding by a number; negative padding removes elements.
pub fn pad(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let input = call.value(0)?;
    let (sizes, ty) = (call.sizes(input), builder.ty(input)?);
    let number = call.number(2)?.unwrap_or(0.0);
    let outside = builder.exprs.number(number, ty);
    let (mut conditions, mut coordinates) = (Vec::new(), builder.exprs.coordinates(sizes.len()));
    for (pair, dim) in call.ints(1)?.chunks(2).zip((0..sizes.len()).rev()) {
        if pair.iter().all(|padding| *padding == 0) {
            continue;
        }
        let begin = builder.exprs.literal(Literal::Int(pair[0] as i32));
        let size = builder.exprs.int(sizes[dim]);
        let moved = builder.exprs.apply("({0} - {1})", &[coordinates[dim], begin], Type::Int);
        coordinates[dim] = moved;
        conditions.push(builder.exprs.apply("({0} >= 0i && {0} < {1})", &[moved, size], Type::Bool));
    }
    let source = builder.moved(input)?;
    let inside = builder.exprs.at(source, &coordinates);
    let expr =
        builder.exprs.all(conditions).map_or(inside, |condition| builder.exprs.choose(condition, inside, outside));
    builder.set(call.output()?, expr)
}

/// Padding by mirrored elements, or by the elements of the border.
pub fn pad_by_border(builder: &mut Builder<'_>, call: Call<'_>, template: &'static str) -> Done {
    let sizes = call.sizes(call.value(0)?);
    let mut coordinates = builder.exprs.coordinates(sizes.len());
    for (pair, dim) in call.ints(1)?.chunks(2).zip((0..sizes.len()).rev()) {
        let begin = builder.exprs.literal(Literal::Int(pair[0] as i32));
        let last = builder.exprs.int(sizes[dim].saturating_sub(1));
        coordinates[dim] = builder.exprs.apply(template, &[coordinates[dim], begin, last], Type::Int);
    }
    repeated(builder, &call, &coordinates)
}

/// The elements on one side of a diagonal; 0 elsewhere.
pub fn triangle(builder: &mut Builder<'_>, call: Call<'_>, template: &'static str) -> Done {
    let input = call.value(0)?;
    let (rank, ty) = (call.sizes(input).len(), builder.ty(input)?);
    let source = builder.value(input)?;
    let [row, column] = [rank - 2, rank - 1].map(|dim| builder.exprs.coordinate(dim));
    let diagonal = call.int(1)?.unwrap_or(0).clamp(-(1 << 30), 1 << 30) as i32;
    let diagonal = builder.exprs.literal(Literal::Int(diagonal));
    let is_inside = builder.exprs.apply(template, &[row, column, diagonal], Type::Bool);
    let outside = builder.exprs.number(0.0, ty);
    let expr = builder.exprs.apply("select({2}, {1}, {0})", &[is_inside, source, outside], ty);
    builder.set(call.output()?, expr)
}
