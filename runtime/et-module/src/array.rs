//! A tensor that owns the elements.

use et_core::{Output, ScalarType, Tensor};

use crate::order;

/// A tensor in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorView<'a> {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The size of each dimension, outermost first.
    pub shape: Vec<usize>,
    /// The elements in row-major order, little-endian.
    pub bytes: &'a [u8],
}

/// Elements in row-major order with their type and shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The size of each dimension, outermost first.
    pub shape: Vec<usize>,
    /// The elements, little-endian.
    pub bytes: Vec<u8>,
}

impl Array {
    /// An array of zeros.
    pub fn zeros(scalar_type: ScalarType, shape: &[usize]) -> Self {
        let bytes = vec![0; shape.iter().product::<usize>() * scalar_type.size()];
        Self { scalar_type, shape: shape.to_vec(), bytes }
    }

    /// An array of 32-bit floating-point numbers, whose count is the product of the shape.
    pub fn floats(shape: &[usize], elements: &[f32]) -> Option<Self> {
        let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
        let fits = shape.iter().product::<usize>() == elements.len();
        fits.then(|| Self { scalar_type: ScalarType::Float, shape: shape.to_vec(), bytes })
    }

    /// The array as a borrowed tensor.
    pub fn view(&self) -> TensorView<'_> {
        TensorView { scalar_type: self.scalar_type, shape: self.shape.clone(), bytes: &self.bytes }
    }

    /// The elements of an array of 32-bit floating-point numbers.
    pub fn to_floats(&self) -> Option<Vec<f32>> {
        let floats = self.bytes.chunks_exact(4).filter_map(|bytes| bytes.try_into().ok().map(f32::from_le_bytes));
        (self.scalar_type == ScalarType::Float).then(|| floats.collect())
    }
}

/// A copy of a tensor's elements in row-major order.
pub(crate) fn to_array(tensor: &Tensor<'_>) -> et_core::Result<Array> {
    let source = tensor.bytes()?;
    let mut bytes = vec![0; source.len()];
    Output::of(&mut bytes).copy_from(source);
    let shape = (0..tensor.rank()).map(|dim| tensor.size(dim)).collect();
    Ok(Array { scalar_type: tensor.scalar_type(), shape, bytes: order::to_row_major(tensor, bytes) })
}
