//! Lanes: the elements along a dimension, in tensors that agree in the remaining dimensions.

use et_core::{Result, Shape, Tensor};

use super::place::Place;
use super::walk::Walk;

/// The start offset of each lane in each of `N` tensors.
pub struct Lanes<const N: usize> {
    /// The stride between neighbouring elements of a lane, in each tensor.
    pub steps: [usize; N],
    walk: Walk<N>,
}

impl<const N: usize> Lanes<N> {
    /// The lanes of dimension `axis`; `shape` is the shape of any of the tensors.
    pub fn new(shape: &Shape, axis: usize, tensors: [&Tensor<'_>; N]) -> Result<Self> {
        let (mut starts, places) = (*shape, tensors.map(Place::of));
        if let Some(size) = starts.sizes_mut().get_mut(axis) {
            *size = 1;
        }
        // No index that the compiler cannot check: firmware has no panics.
        let steps = places.map(|place| place.strides.get(axis).copied().unwrap_or(0));
        Ok(Self { steps, walk: Walk::over(&starts, places)? })
    }
}

impl<const N: usize> Iterator for Lanes<N> {
    type Item = [usize; N];

    fn next(&mut self) -> Option<[usize; N]> {
        self.walk.next()
    }
}
