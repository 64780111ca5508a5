//! The layout of a box in a tensor: a start offset and strides.

use et_core::{Error, MAX_RANK, Result, Shape, Tensor};

/// The element offset of each position: `start` plus index times stride for every dimension. Arithmetic wraps, so a stride
/// can stand for a step back; only the offsets of positions inside the box have to be offsets of the tensor.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The offset of the first position.
    pub start: usize,
    /// The distance between neighbours along each dimension.
    pub strides: [usize; MAX_RANK],
}

impl Place {
    /// The first position, regardless of the index.
    pub const FIRST: Self = Self { start: 0, strides: [0; MAX_RANK] };

    /// The layout of the whole of `tensor`.
    pub fn of(tensor: &Tensor<'_>) -> Self {
        Self { start: 0, strides: tensor.strides() }
    }

    /// `tensor` broadcast to `shape`: the stride of a repeated dimension is 0.
    pub fn broadcast(tensor: &Tensor<'_>, shape: &Shape) -> Result<Self> {
        let own = tensor.shape();
        if own.broadcast(shape)? != *shape {
            return Err(Error::InvalidArgument);
        }
        let (missing, all) = (shape.rank() - own.rank(), tensor.strides());
        let mut strides = [0; MAX_RANK];
        let dims = own.sizes().iter().zip(all).zip(strides.iter_mut().skip(missing));
        dims.filter(|((size, _), _)| **size != 1).for_each(|((_, step), stride)| *stride = step);
        Ok(Self { start: 0, strides })
    }

    /// The same strides from another start.
    #[must_use]
    pub const fn at(self, start: usize) -> Self {
        Self { start, ..self }
    }

    /// Moves the start `steps` positions along `dim`.
    #[must_use]
    pub const fn moved(mut self, dim: usize, steps: i64) -> Self {
        self.start = self.start.wrapping_add(self.strides[dim].wrapping_mul(steps as usize));
        self
    }

    /// Visits every `step`-th position along `dim` only.
    #[must_use]
    pub const fn stepped(mut self, dim: usize, step: i64) -> Self {
        self.strides[dim] = self.strides[dim].wrapping_mul(step as usize);
        self
    }

    /// Takes these dimensions, in this order.
    #[must_use]
    pub fn with_dims(self, dims: impl Iterator<Item = usize>) -> Self {
        let mut strides = [0; MAX_RANK];
        for (slot, dim) in strides.iter_mut().zip(dims) {
            *slot = self.strides[dim];
        }
        Self { strides, ..self }
    }
}
