//! Scatter: writes to positions whose index along a dimension is read from an index tensor.

use et_core::{Args, Error, Result, Shape, Tensor};

use crate::family::index;
use crate::family::place::Place;
use crate::family::walk::Walk;

/// The target of each element of an index tensor.
pub struct Scattering<'p> {
    indices: Tensor<'p>,
    size: usize,
    /// The layout of the written tensor, with a stride of 0 along the scattered dimension.
    others: Place,
    step: usize,
}

impl<'p> Scattering<'p> {
    /// The arguments `self, dim, index` of a call that writes `out`, which takes the shape of `self`, from `source`, which
    /// must have an element for each index. All have the same rank, and but for the dimension, indices fit in `self`.
    pub fn new(args: &Args<'p, '_>, out: &Tensor<'_>, source: Option<&Tensor<'_>>) -> Result<Self> {
        let (shape, indices) = (args.tensor(0)?.shape(), args.tensor(2)?);
        let axis = shape.axis(args.int(1)?)?;
        out.resize(&shape)?;
        let fits = |other: &Shape, free: Option<usize>| {
            let inside = |dim| Some(dim) == free || indices.size(dim) <= other.size(dim);
            other.rank() == indices.rank() && (0..other.rank()).all(inside)
        };
        let all = fits(&shape, Some(axis)) && source.is_none_or(|source| fits(&source.shape(), None));
        if !all && indices.numel() > 0 {
            return Err(Error::InvalidArgument);
        }
        let size = shape.around(axis)[1];
        Ok(Self { indices, size, others: Place::of(out).stepped(axis, 0), step: out.strides()[axis] })
    }

    /// Calls `visit` for each index with the offset of the written element and the offset of the index's position in
    /// `source`.
    pub fn for_each(&self, source: Place, mut visit: impl FnMut(usize, usize)) -> Result<()> {
        let walk = Walk::over(&self.indices.shape(), [Place::of(&self.indices), self.others, source])?;
        for [index_at, own, source_at] in walk {
            visit(own + index::load(&self.indices, index_at, self.size)? * self.step, source_at);
        }
        Ok(())
    }
}
