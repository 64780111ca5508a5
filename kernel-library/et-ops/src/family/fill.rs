//! Tensors of one number.

use et_core::{Result, Scalar, Shape, Tensor};

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
