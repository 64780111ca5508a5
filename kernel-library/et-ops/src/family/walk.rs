//! Iterates over several tensors in step, regardless of their dim orders.

use et_core::{MAX_RANK, Result, Shape, Tensor};

use super::place::Place;
use crate::simd::HOSTED;

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

    /// Walks over a box of this shape; `places` lay out the box in each tensor.
    pub fn over(shape: &Shape, places: [Place; N]) -> Result<Self> {
        let mut walk = Self { shape: *shape, position: [0; MAX_RANK], places, remaining: shape.numel()? };
        if HOSTED && walk.remaining > 0 {
            walk.join_dims();
        }
        Ok(walk)
    }

    /// Calls `visit` with the offsets of each position. `Iterator::for_each` does the same, but the compiler makes four more
    /// functions of it for each of a thousand closures.
    #[inline]
    pub fn for_each(mut self, mut visit: impl FnMut([usize; N])) {
        if !HOSTED {
            for offsets in self {
                visit(offsets);
            }
            return;
        }
        while self.remaining > 0 {
            let (mut offsets, steps, count) = self.take_row();
            for _ in 0..count {
                visit(offsets);
                step(&mut offsets, &steps);
            }
        }
    }

    /// Joins neighbouring dimensions whose strides compose in every tensor, so that rows are long. The sizes of a
    /// non-empty box multiply without overflow.
    fn join_dims(&mut self) {
        let sizes = self.shape;
        let mut joined = Shape::SCALAR;
        for (dim, size) in sizes.sizes().iter().enumerate().filter(|(_, size)| **size != 1) {
            match (joined.rank().checked_sub(1), joined.sizes_mut().last_mut()) {
                (Some(last), Some(outer)) if self.steps_alike(last, dim, *size) => *outer *= size,
                // Never beyond the rank of `sizes`.
                _ => joined.push(*size).unwrap_or_default(),
            }
            let last = joined.rank() - 1;
            self.places.iter_mut().for_each(|place| place.strides[last] = place.strides[dim]);
        }
        self.shape = joined;
    }

    /// Whether a step along `outer` is as far as `size` steps along `dim` in every tensor.
    fn steps_alike(&self, outer: usize, dim: usize, size: i32) -> bool {
        self.places.iter().all(|place| place.strides[outer] == place.strides[dim].wrapping_mul(size as usize))
    }

    /// Returns the offsets of the current position, the innermost strides, and the number of positions left in the row;
    /// advances behind the row.
    fn take_row(&mut self) -> ([usize; N], [usize; N], usize) {
        let inner = self.shape.rank().saturating_sub(1);
        let count = self.shape.sizes().last().map_or(1, |size| *size as usize - self.position[inner]);
        let steps = self.places.each_ref().map(|place| place.strides[inner]);
        let offsets = self.places.each_ref().map(|place| place.start);
        for (place, step) in self.places.iter_mut().zip(steps) {
            place.start = place.start.wrapping_add(step.wrapping_mul(count - 1));
        }
        self.position[inner] += count - 1;
        self.remaining -= count;
        self.advance();
        (offsets, steps, count)
    }

    /// Advances to the next position: a step along the innermost dimension that has a position left.
    fn advance(&mut self) {
        for (dim, size) in self.shape.sizes().iter().enumerate().rev() {
            let Some(position) = self.position.get_mut(dim) else { return };
            let is_inside = *position + 1 < *size as usize;
            let steps = if is_inside { 1 } else { position.wrapping_neg() };
            *position = position.wrapping_add(steps);
            for place in &mut self.places {
                place.start = place.start.wrapping_add(place.strides[dim].wrapping_mul(steps));
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

    /// Row by row, since a step within a row is but an addition; bare metal has no room for that.
    #[inline]
    fn fold<A, F: FnMut(A, Self::Item) -> A>(mut self, initial: A, mut visit: F) -> A {
        let mut result = initial;
        if !HOSTED {
            for offsets in self.by_ref() {
                result = visit(result, offsets);
            }
            return result;
        }
        while self.remaining > 0 {
            let (mut offsets, steps, count) = self.take_row();
            for _ in 0..count {
                result = visit(result, offsets);
                step(&mut offsets, &steps);
            }
        }
        result
    }
}

/// Moves each offset by its step.
#[inline]
fn step<const N: usize>(offsets: &mut [usize; N], steps: &[usize; N]) {
    for (offset, step) in offsets.iter_mut().zip(steps) {
        *offset = offset.wrapping_add(*step);
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
    fn folding_visits_what_stepping_does() {
        let place = |strides: [usize; 3]| {
            let mut all = [0; MAX_RANK];
            all[..3].copy_from_slice(&strides);
            Place { start: 1, strides: all }
        };
        let places = [place([6, 3, 1]), place([0, 1, 0]), place([1, 2, 4])];
        let walk = Walk::over(&Shape::new(&[2, 2, 3]).unwrap(), places).unwrap();
        let mut rest = walk.clone();
        let first = rest.next();
        let mut folded = std::vec::Vec::new();
        rest.for_each(|offsets| folded.push(offsets));
        assert!(walk.eq(first.into_iter().chain(folded)));
    }

    #[test]
    fn joined_dimensions_are_walked_in_order() {
        let mut strides = [0; MAX_RANK];
        strides[..3].copy_from_slice(&[4, 2, 1]);
        let walk = Walk::over(&Shape::new(&[2, 2, 2]).unwrap(), [Place { start: 0, strides }]).unwrap();
        assert_eq!(walk.shape.sizes(), [8]);
        assert!(walk.eq((0..8).map(|offset| [offset])));
    }

    #[test]
    fn a_box_without_positions_is_not_walked() {
        let place = Place { start: 0, strides: [1; MAX_RANK] };
        assert_eq!(Walk::over(&Shape::new(&[2, 0]).unwrap(), [place]).unwrap().count(), 0);
        assert_eq!(Walk::over(&Shape::SCALAR, [place]).unwrap().count(), 1);
    }
}
