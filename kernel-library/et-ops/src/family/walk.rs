//! Stepping through several tensors at once, whatever their dim orders.

use et_core::{MAX_RANK, Result, Shape, Tensor};

use super::place::Place;

/// Offsets of `N` tensors at each position of a common box, innermost dimension fastest.
#[derive(Clone)]
pub struct Walk<const N: usize> {
    shape: Shape,
    strides: [[usize; MAX_RANK]; N],
    position: [i32; MAX_RANK],
    offsets: [usize; N],
    remaining: usize,
}

impl<const N: usize> Walk<N> {
    /// Walks over `shape`, to which each tensor broadcasts.
    pub fn new(shape: &Shape, tensors: [&Tensor<'_>; N]) -> Result<Self> {
        let mut places = [Place { start: 0, strides: [0; MAX_RANK] }; N];
        for (place, tensor) in places.iter_mut().zip(tensors) {
            *place = Place::broadcast(tensor, shape)?;
        }
        Self::over(shape, places)
    }

    /// Walks over a box of this shape, which lies in each tensor as its place says.
    pub fn over(shape: &Shape, places: [Place; N]) -> Result<Self> {
        Ok(Self {
            shape: *shape,
            strides: places.map(|place| place.strides),
            position: [0; MAX_RANK],
            offsets: places.map(|place| place.start),
            remaining: shape.numel()?,
        })
    }

    /// Moves to the next position: one step along the innermost dimension that has one left.
    fn advance(&mut self) {
        for dim in (0..self.shape.rank()).rev() {
            self.position[dim] += 1;
            if self.position[dim] < self.shape.sizes()[dim] {
                self.shift(|strides, offset| offset.wrapping_add(strides[dim]));
                return;
            }
            let steps = self.position[dim] as usize - 1;
            self.position[dim] = 0;
            self.shift(|strides, offset| offset.wrapping_sub(steps.wrapping_mul(strides[dim])));
        }
    }

    fn shift(&mut self, step: impl Fn(&[usize; MAX_RANK], usize) -> usize) {
        for (offset, strides) in self.offsets.iter_mut().zip(&self.strides) {
            *offset = step(strides, *offset);
        }
    }
}

impl<const N: usize> Iterator for Walk<N> {
    type Item = [usize; N];

    fn next(&mut self) -> Option<[usize; N]> {
        self.remaining = self.remaining.checked_sub(1)?;
        let offsets = self.offsets;
        self.advance();
        Some(offsets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_stride_walks_back() {
        let mut strides = [0; MAX_RANK];
        strides[0] = 1_usize.wrapping_neg();
        let walk = Walk::over(&Shape::new(&[3]).unwrap(), [Place { start: 2, strides }]).unwrap();
        assert!(walk.eq([[2], [1], [0]]));
    }

    #[test]
    fn a_box_without_positions_is_not_walked() {
        let place = Place { start: 0, strides: [1; MAX_RANK] };
        assert_eq!(Walk::over(&Shape::new(&[2, 0]).unwrap(), [place]).unwrap().count(), 0);
        assert_eq!(Walk::over(&Shape::SCALAR, [place]).unwrap().count(), 1);
    }
}
