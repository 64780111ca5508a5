//! Stepping through several tensors at once, whatever their dim orders.

use et_core::{MAX_RANK, Result, Shape, Tensor};

use super::place::Place;

/// Offsets of `N` tensors at each position of a common box, innermost dimension fastest.
#[derive(Clone)]
pub struct Walk<const N: usize> {
    shape: Shape,
    position: [usize; MAX_RANK],
    /// The box, starting at the current position.
    places: [Place; N],
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
        Ok(Self { shape: *shape, position: [0; MAX_RANK], places, remaining: shape.numel()? })
    }

    /// Moves to the next position: one step along the innermost dimension that has one left.
    fn advance(&mut self) {
        for (dim, size) in self.shape.sizes().iter().enumerate().rev() {
            let Some(position) = self.position.get_mut(dim) else { return };
            let is_inside = *position + 1 < *size as usize;
            let steps = if is_inside { 1 } else { position.wrapping_neg() };
            *position = position.wrapping_add(steps);
            for place in &mut self.places {
                *place = place.moved(dim, steps.cast_signed() as i64);
            }
            if is_inside {
                return;
            }
        }
    }
}

impl<const N: usize> Iterator for Walk<N> {
    type Item = [usize; N];

    fn next(&mut self) -> Option<[usize; N]> {
        self.remaining = self.remaining.checked_sub(1)?;
        let offsets = self.places.each_ref().map(|place| place.start);
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
