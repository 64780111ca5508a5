//! Tensors filled with a number, and tensors that only have sizes.

use et_core::{Args, Error, Result, Scalar, ScalarType, Shape, Tensor};

use super::choice;
use crate::Meta;
use crate::operator::dispatch;

/// Stores `value`, converted as `Tensor.to` does, in every element of `out`, which takes this shape.
pub fn fill<const D: u32>(out: &Tensor<'_>, shape: &Shape, value: Scalar) -> Result<()> {
    out.resize(shape)?;
    dispatch!(D, out.scalar_type(), stored, T => {
        let (elements, value) = (out.output::<T>()?, value.cast());
        (0..elements.len()).for_each(|index| elements.set(index, value));
        Ok(())
    })
}

/// Argument `position` as a shape.
pub fn sizes(args: &Args<'_, '_>, position: usize) -> Result<Shape> {
    let mut shape = Shape::SCALAR;
    for size in args.ints(position)?.iter() {
        shape.push(i32::try_from(*size).map_err(|_| Error::InvalidArgument)?)?;
    }
    Ok(shape)
}

/// The shape rule of operators whose only output, at position `OUT`, has the sizes of the first argument: `float32`
/// unless the caller wants a different dtype.
pub fn of_sizes<const OUT: usize>(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    Ok(Meta { scalar_type: choice::scalar_type(args, OUT, ScalarType::Float)?, shape: sizes(args, 0)? })
}
