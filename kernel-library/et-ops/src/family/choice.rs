//! Choices that operators leave to the caller: dtypes of outputs, and sizes that depend on the elements.

use et_core::{Args, Result, ScalarType, Shape};

use super::unary;
use crate::Meta;

/// The dtype that the caller wants for the output at position `out`, else `usual`.
pub fn scalar_type(args: &Args<'_, '_>, out: usize, usual: ScalarType) -> Result<ScalarType> {
    Ok(args.optional_tensor(out)?.map_or(usual, |out| out.scalar_type()))
}

/// The shape rule of operators whose only output, at position `OUT`, has the shape of the first argument and any dtype,
/// by default the dtype of the first argument.
pub fn converted<const OUT: usize>(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let like = unary::like_first(args, index)?;
    Ok(Meta { scalar_type: scalar_type(args, OUT, like.scalar_type)?, ..like })
}

/// The shape that the caller expects at most of the output in position `out` if that is within `bound`, else `bound`.
pub fn shape(args: &Args<'_, '_>, out: usize, bound: Shape) -> Result<Shape> {
    let Some(wanted) = args.optional_tensor(out)?.map(|out| out.shape()) else { return Ok(bound) };
    let within =
        wanted.rank() == bound.rank() && wanted.sizes().iter().zip(bound.sizes()).all(|(own, most)| own <= most);
    Ok(if within { wanted } else { bound })
}
