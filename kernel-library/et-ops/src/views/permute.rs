//! Operators that reorder dimensions.

use et_core::{Args, Error, MAX_RANK, Result, Shape, Tensor};

use crate::Meta;
use crate::family::place::Place;
use crate::family::transfer;

/// Which dimension of the input each dimension of the output is.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    dims: [usize; MAX_RANK],
    rank: usize,
}

impl Permutation {
    /// The order of `shape` itself.
    pub fn identity(shape: &Shape) -> Self {
        Self { dims: core::array::from_fn(|dim| dim), rank: shape.rank() }
    }

    /// Dimensions counted from either end; each must be there once.
    pub fn new(shape: &Shape, dims: &[i64]) -> Result<Self> {
        let mut permutation = Self::identity(shape);
        let mut seen = 0_u32;
        for (slot, dim) in permutation.dims.iter_mut().zip(dims) {
            *slot = shape.axis(*dim)?;
            seen |= 1 << *slot;
        }
        let complete = dims.len() == shape.rank() && seen == (1 << dims.len()) - 1;
        if complete { Ok(permutation) } else { Err(Error::InvalidArgument) }
    }

    /// Two dimensions exchanged; a scalar has only itself to exchange.
    pub fn exchange(shape: &Shape, first: i64, second: i64) -> Result<Self> {
        let mut permutation = Self::identity(shape);
        permutation.dims.swap(shape.axis(first)?, shape.axis(second)?);
        Ok(permutation)
    }

    fn dims(&self) -> impl Iterator<Item = usize> {
        self.dims.into_iter().take(self.rank)
    }

    /// The type and shape of the output.
    pub fn meta(&self, args: &Args<'_, '_>) -> Result<Meta> {
        let (input, mut shape) = (args.tensor(0)?.shape(), Shape::SCALAR);
        self.dims().try_for_each(|dim| shape.push(input.sizes()[dim]))?;
        transfer::reshaped(args, shape)
    }

    /// Copies the first argument to `out`.
    pub fn copy<const D: u32>(&self, args: &Args<'_, '_>, out: &Tensor<'_>) -> Result<()> {
        let (input, shape) = (args.tensor(0)?, self.meta(args)?.shape);
        out.resize(&shape)?;
        transfer::region::<D>(&shape, (&input, Place::of(&input).with_dims(self.dims())), (out, Place::of(out)))
    }
}
