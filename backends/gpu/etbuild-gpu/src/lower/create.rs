//! Tensors that are made of numbers.

use etbuild_backend::Call;

use crate::builder::Builder;
use crate::types::Literal;

use super::Done;

/// A tensor of one number.
pub fn fill(builder: &mut Builder<'_>, call: Call<'_>, position: usize) -> Done {
    let output = call.output()?;
    let ty = builder.ty(output)?;
    let sizes = call.output_sizes()?;
    let argument = call.node.arguments.get(position).ok_or_else(super::no_arguments)?;
    let expr = builder.argument_as(argument, &sizes, ty)?;
    builder.set(output, expr)
}

/// A tensor of a constant number.
pub fn constant(builder: &mut Builder<'_>, call: Call<'_>, number: f64) -> Done {
    let output = call.output()?;
    let ty = builder.ty(output)?;
    let expr = builder.exprs.literal(Literal::new(number, ty));
    builder.set(output, expr)
}

/// `start + step * position`.
pub fn arange(builder: &mut Builder<'_>, call: Call<'_>, has_start: bool) -> Done {
    let output = call.output()?;
    let ty = builder.ty(output)?;
    let (start, step) =
        if has_start { (call.number(0)?.unwrap_or(0.0), call.number(2)?.unwrap_or(1.0)) } else { (0.0, 1.0) };
    let coordinate = builder.exprs.coordinate(0);
    let position = builder.exprs.cast(coordinate, ty);
    let (start, step) = (builder.exprs.number(start, ty), builder.exprs.number(step, ty));
    let expr = builder.exprs.apply("({0} + {1} * {2})", &[start, position, step], ty);
    builder.set(output, expr)
}
