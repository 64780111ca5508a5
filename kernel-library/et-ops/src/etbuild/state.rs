//! What operators with a state of one size share: tensors by row, head and element, and steps.

use core::array::from_fn;

use crate::math::Math;
use et_core::{Element, Input, Result};

/// The elements of the state of a head that are computed at once.
pub const LANES: usize = 16;

/// Elements of a tensor by row, head or group, and element.
pub struct View<'a, T> {
    pub elements: Input<'a, T>,
    pub steps: [usize; 3],
}

impl<'a, T: Element> View<'a, T> {
    /// The last three dimensions of a tensor; a dimension of one element stands for any number.
    pub fn of(tensor: &et_core::Tensor<'a>) -> Result<Self> {
        let (strides, shape) = (tensor.strides(), tensor.shape());
        let rank = shape.rank();
        let step = |dim: usize| match (rank + dim).checked_sub(3) {
            Some(dim) if shape.size(dim) > 1 => strides[dim],
            _ => 0,
        };
        Ok(Self { elements: tensor.input()?, steps: from_fn(step) })
    }

    pub fn at(&self, index: [usize; 3]) -> usize {
        index.iter().zip(self.steps).map(|(index, step)| index * step).sum()
    }

    pub fn get(&self, index: [usize; 3]) -> T {
        self.elements.get(self.at(index))
    }
}

/// `ln(1 + e^x)`, and `x` itself from 20 on.
pub fn softplus<M: Math>(x: M) -> M {
    if x > M::from_f64(20.0) { x } else { x.exp().ln_1p() }
}
