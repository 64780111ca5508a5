//! Operators that cut a tensor along a dimension into a list of tensors.

use et_core::{Args, Error, Result, Tensor};

use crate::family::place::Place;
use crate::family::transfer;

/// The dimension that argument `position` names; a scalar cannot be cut.
pub fn cut_dim(args: &Args<'_, '_>, position: usize) -> Result<usize> {
    let shape = args.tensor(0)?.shape();
    if shape.rank() == 0 { Err(Error::InvalidArgument) } else { shape.axis(args.int(position)?) }
}

/// Refuses a list of outputs at position `out` whose length is not `count`.
pub fn check_count(args: &Args<'_, '_>, out: usize, count: usize) -> Result<()> {
    if args.tensors_len(out)? == count { Ok(()) } else { Err(Error::InvalidArgument) }
}

/// Copies to `piece` a slice of the first argument with the shape of `piece`, from index `start` of dimension `dim`.
pub fn cut<const D: u32>(args: &Args<'_, '_>, (dim, start): (usize, i64), piece: &Tensor<'_>) -> Result<()> {
    let input = args.tensor(0)?;
    let from = Place::of(&input).moved(dim, start);
    transfer::region::<D>(&piece.shape(), (&input, from), (piece, Place::of(piece)))
}
