//! Stepping through several tensors at once, broadcast to one shape, whatever their dim orders.

use et_core::{MAX_RANK, Result, Shape, Tensor};

/// Offsets of `N` tensors at each position of a common shape, innermost dimension fastest.
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
        let mut strides = [[0; MAX_RANK]; N];
        for (strides, tensor) in strides.iter_mut().zip(tensors) {
            *strides = broadcast_strides(shape, tensor)?;
        }
        let remaining = shape.numel()?;
        Ok(Self { shape: *shape, strides, position: [0; MAX_RANK], offsets: [0; N], remaining })
    }

    /// Moves to the next position: one step along the innermost dimension that has one left.
    fn advance(&mut self) {
        for dim in (0..self.shape.rank()).rev() {
            self.position[dim] += 1;
            if self.position[dim] < self.shape.sizes()[dim] {
                self.shift(|strides, offset| offset + strides[dim]);
                return;
            }
            let steps = self.position[dim] as usize - 1;
            self.position[dim] = 0;
            self.shift(|strides, offset| offset - steps * strides[dim]);
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

/// Strides of `tensor` along the dimensions of `shape`; 0 where it is broadcast.
fn broadcast_strides(shape: &Shape, tensor: &Tensor<'_>) -> Result<[usize; MAX_RANK]> {
    let own = tensor.shape();
    if own.broadcast(shape)? != *shape {
        return Err(et_core::Error::InvalidArgument);
    }
    let missing = shape.rank() - own.rank();
    let strides = tensor.strides();
    let mut broadcast = [0; MAX_RANK];
    for dim in 0..own.rank() {
        if own.size(dim) != 1 {
            broadcast[dim + missing] = strides[dim];
        }
    }
    Ok(broadcast)
}
