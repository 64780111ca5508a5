//! Tensors whose elements are positions in another tensor.

use et_core::{Error, Result, ScalarType, Tensor};

/// The element at `offset` of a tensor of `int32` or `int64` indices, which must be below `size`.
pub fn load(indices: &Tensor<'_>, offset: usize, size: usize) -> Result<usize> {
    inside(element(indices, offset)?, size)
}

/// As [`load`]; below 0, an index counts from the end.
pub fn load_from_either_end(indices: &Tensor<'_>, offset: usize, size: usize) -> Result<usize> {
    let index = element(indices, offset)?;
    inside(if index < 0 { index + size as i64 } else { index }, size)
}

fn element(indices: &Tensor<'_>, offset: usize) -> Result<i64> {
    Ok(match indices.scalar_type() {
        ScalarType::Int => i64::from(indices.input::<i32>()?.get(offset)),
        _ => indices.input::<i64>()?.get(offset),
    })
}

fn inside(index: i64, size: usize) -> Result<usize> {
    usize::try_from(index).ok().filter(|index| *index < size).ok_or(Error::InvalidArgument)
}
