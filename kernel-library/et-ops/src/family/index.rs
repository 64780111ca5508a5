//! Tensors whose elements are positions in another tensor.

use et_core::{Error, Result, ScalarType, Tensor};

/// The element at `offset` of a tensor of `int32` or `int64` indices, which must be below `size`.
pub fn load(indices: &Tensor<'_>, offset: usize, size: usize) -> Result<usize> {
    let index = match indices.scalar_type() {
        ScalarType::Int => i64::from(indices.input::<i32>()?.get(offset)),
        _ => indices.input::<i64>()?.get(offset),
    };
    usize::try_from(index).ok().filter(|index| *index < size).ok_or(Error::InvalidArgument)
}
