//! The order in which dimensions lie in memory.

use crate::{Error, MAX_RANK, Result, Shape};

/// A permutation of the dimensions, outermost first: contiguous is `[0, 1, 2, 3]`, channels-last `[0, 2, 3, 1]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DimOrder {
    order: [u8; MAX_RANK],
    rank: u8,
}

impl DimOrder {
    /// Reads a permutation, or returns an error.
    pub fn new(order: &[u8]) -> Result<Self> {
        Self::check(order)?;
        let mut copy = [0; MAX_RANK];
        copy.iter_mut().zip(order).for_each(|(slot, dim)| *slot = *dim);
        Ok(Self { order: copy, rank: order.len() as u8 })
    }

    /// Checks that `order` is a permutation of up to [`MAX_RANK`] dimensions.
    pub fn check(order: &[u8]) -> Result<()> {
        let seen = order.iter().fold(0_u32, |seen, dim| seen | 1_u32.checked_shl(u32::from(*dim)).unwrap_or(0));
        let fits = order.len() <= MAX_RANK && seen == (1 << order.len()) - 1;
        if fits { Ok(()) } else { Err(Error::InvalidArgument) }
    }

    /// Row-major order.
    pub fn contiguous(rank: usize) -> Self {
        let mut order = [0; MAX_RANK];
        let rank = rank.min(MAX_RANK);
        (0_u8..).zip(&mut order[..rank]).for_each(|(dim, slot)| *slot = dim);
        Self { order, rank: rank as u8 }
    }

    /// The dimensions, outermost in memory first.
    pub fn dims(&self) -> &[u8] {
        &self.order[..usize::from(self.rank)]
    }

    /// Whether this is row-major order.
    pub fn is_contiguous(&self) -> bool {
        is_row_major(self.dims())
    }

    /// Elements between neighbours along each dimension of a dense tensor of this shape and order.
    pub fn strides(&self, shape: &Shape) -> [usize; MAX_RANK] {
        strides(self.dims(), |dim| shape.size(dim))
    }
}

/// Whether dimensions in memory order are in row-major order.
pub(crate) fn is_row_major(dims: &[u8]) -> bool {
    (0_u8..).zip(dims).all(|(position, dim)| position == *dim)
}

/// Elements between neighbours along each dimension; `dims` are the dimensions in memory order, outermost first.
pub(crate) fn strides(dims: &[u8], size: impl Fn(usize) -> usize) -> [usize; MAX_RANK] {
    let mut strides = [0; MAX_RANK];
    let mut step = 1_usize;
    for dim in dims.iter().rev().map(|dim| usize::from(*dim)) {
        if let Some(stride) = strides.get_mut(dim) {
            *stride = step;
        }
        // Overflows only where another size is 0, and then no stride is used.
        step = step.wrapping_mul(size(dim).max(1));
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_last_strides() {
        let shape = Shape::new(&[2, 3, 4, 5]).unwrap();
        let order = DimOrder::new(&[0, 2, 3, 1]).unwrap();
        assert_eq!(order.strides(&shape)[..4], [60, 1, 15, 3]);
        assert!(!order.is_contiguous());
    }

    #[test]
    fn only_permutations_are_orders() {
        assert!(DimOrder::new(&[0, 0]).is_err());
        assert!(DimOrder::new(&[1, 2]).is_err());
        assert!(DimOrder::new(&[200]).is_err());
        assert_eq!(DimOrder::new(&[0, 1]), Ok(DimOrder::contiguous(2)));
    }
}
