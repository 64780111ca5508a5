//! A tensor's extent in each dimension, on the stack.

use crate::{Error, Result};

/// The most dimensions a tensor can have; ExecuTorch's `kTensorDimensionLimit`.
pub const MAX_RANK: usize = 16;

/// Sizes of up to [`MAX_RANK`] dimensions, outermost first.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    sizes: [i32; MAX_RANK],
    rank: u8,
}

impl Shape {
    /// The shape of a scalar: rank 0, a single element.
    pub const SCALAR: Self = Self { sizes: [0; MAX_RANK], rank: 0 };

    /// A shape with these sizes. Negative sizes and more than [`MAX_RANK`] dimensions are refused.
    pub fn new(sizes: &[i32]) -> Result<Self> {
        let mut shape = Self::SCALAR;
        sizes.iter().try_for_each(|size| shape.push(*size))?;
        Ok(shape)
    }

    /// Adds an innermost dimension.
    pub fn push(&mut self, size: i32) -> Result<()> {
        let slot = self.sizes.get_mut(usize::from(self.rank)).ok_or(Error::InvalidArgument)?;
        if size < 0 {
            return Err(Error::InvalidArgument);
        }
        *slot = size;
        self.rank += 1;
        Ok(())
    }

    /// The number of dimensions.
    pub const fn rank(&self) -> usize {
        self.rank as usize
    }

    /// The sizes, outermost first.
    pub fn sizes(&self) -> &[i32] {
        self.sizes.get(..self.rank()).unwrap_or_default()
    }

    /// The sizes, to change.
    pub fn sizes_mut(&mut self) -> &mut [i32] {
        let rank = self.rank();
        self.sizes.get_mut(..rank).unwrap_or_default()
    }

    /// The size of dimension `dim`, or 0 for a dimension beyond the rank; sizes are never negative.
    pub fn size(&self, dim: usize) -> usize {
        self.sizes().get(dim).map_or(0, |size| *size as usize)
    }

    /// The number of elements; an error if the number exceeds 31 bits, or a size that [`sizes_mut`](Self::sizes_mut) got is negative.
    pub fn numel(&self) -> Result<usize> {
        let count = self.sizes().iter().try_fold(1_i32, |count, size| count.checked_mul(*size));
        // A size of zero makes the tensor empty even if the product of the remaining sizes overflows.
        let count = if self.sizes().contains(&0) { Some(0) } else { count };
        let is_shape = self.sizes().iter().all(|size| *size >= 0);
        count.filter(|_| is_shape).map(|count| count as usize).ok_or(Error::InvalidArgument)
    }

    /// Turns a dimension counted from either end into an index; a scalar takes 0 and -1, as in PyTorch.
    pub fn axis(&self, dim: i64) -> Result<usize> {
        let rank = (self.rank() as i64).max(1);
        let axis = if dim < 0 { dim + rank } else { dim };
        if (0..rank).contains(&axis) { Ok(axis as usize) } else { Err(Error::InvalidArgument) }
    }

    /// The number of elements outside, along and inside `axis`: `[outer, extent, inner]`.
    pub fn around(&self, axis: usize) -> [usize; 3] {
        let product = |sizes: &[i32]| sizes.iter().fold(1_usize, |product, size| product.wrapping_mul(*size as usize));
        match self.sizes().split_at_checked(axis) {
            Some((outer, [extent, inner @ ..])) => [product(outer), *extent as usize, product(inner)],
            _ => [1, 1, 1],
        }
    }

    /// The shape that both broadcast to (`torch.broadcast_shapes`).
    pub fn broadcast(&self, other: &Self) -> Result<Self> {
        let rank = self.rank().max(other.rank());
        let mut shape = Self::SCALAR;
        for dim in 0..rank {
            shape.push(broadcast_size(self.size_aligned(dim, rank), other.size_aligned(dim, rank))?)?;
        }
        Ok(shape)
    }

    /// The size of dimension `dim` after padding the shape with ones on the left to `rank` dimensions.
    fn size_aligned(&self, dim: usize, rank: usize) -> i32 {
        let own = (dim + self.rank()).checked_sub(rank).and_then(|own| self.sizes.get(own));
        own.copied().unwrap_or(1)
    }
}

fn broadcast_size(left: i32, right: i32) -> Result<i32> {
    match (left, right) {
        (left, right) if left == right => Ok(left),
        (1, right) => Ok(right),
        (left, 1) => Ok(left),
        _ => Err(Error::InvalidArgument),
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        self.sizes() == other.sizes()
    }
}

impl Eq for Shape {}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(sizes: &[i32]) -> Shape {
        Shape::new(sizes).unwrap()
    }

    #[test]
    fn broadcasting_aligns_at_the_innermost_dimension() {
        assert_eq!(shape(&[4, 1, 3]).broadcast(&shape(&[5, 1])), Ok(shape(&[4, 5, 3])));
        assert_eq!(shape(&[2]).broadcast(&shape(&[3])), Err(Error::InvalidArgument));
        assert_eq!(shape(&[]).broadcast(&shape(&[3])), Ok(shape(&[3])));
    }

    #[test]
    fn overflow_is_an_error_unless_the_tensor_is_empty() {
        assert_eq!(shape(&[1 << 16, 1 << 16]).numel(), Err(Error::InvalidArgument));
        assert_eq!(shape(&[1 << 16, 1 << 16, 0]).numel(), Ok(0));
        assert_eq!(Shape::SCALAR.numel(), Ok(1));
    }

    #[test]
    fn an_axis_counts_from_either_end() {
        assert_eq!(shape(&[2, 3]).axis(-1), Ok(1));
        assert_eq!(shape(&[2, 3]).axis(2), Err(Error::InvalidArgument));
        assert_eq!(Shape::SCALAR.axis(-1), Ok(0));
    }

    #[test]
    fn around_splits_at_the_axis() {
        assert_eq!(shape(&[2, 3, 4]).around(1), [2, 3, 4]);
        assert_eq!(Shape::SCALAR.around(0), [1, 1, 1]);
    }
}
