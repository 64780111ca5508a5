//! Copies that cast to the dtype and the dim order of the output.

use et_core::{Args, Error, Result, Tensor};

use super::{binary, unary};
use crate::operator::dispatch;

/// The kernel of copies of the first argument; the output is in position `out`.
pub fn first_to<const D: u32>(args: &Args<'_, '_>, out: usize) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(out)?);
    dispatch!(D, out.scalar_type(), stored, T => unary::convert::<T, T, D>(&input, &out, |element| element))
}

/// Copies `source` to `out`, both of which take the shape of `like`.
pub fn broadcast<const D: u32>(like: &Tensor<'_>, source: &Tensor<'_>, out: &Tensor<'_>) -> Result<()> {
    if like.shape().broadcast(&source.shape())? != like.shape() {
        return Err(Error::InvalidArgument);
    }
    let are_contiguous = source.is_contiguous() && out.is_contiguous() && source.shape() == out.shape();
    if are_contiguous && source.scalar_type() == out.scalar_type() {
        return dispatch!(D, out.scalar_type(), all, T => {
            out.output::<T>()?.copy_from(source.input::<T>()?);
            Ok(())
        });
    }
    dispatch!(D, out.scalar_type(), all, T => binary::zip::<T, T, D>([like, source, out], |_, element| element))
}

/// Refuses an output whose dim order differs from the dim order that argument `position` states.
pub fn check_order(args: &Args<'_, '_>, position: usize, out: usize) -> Result<()> {
    let Some(stated) = args.optional_ints(position)? else { return Ok(()) };
    let order = args.tensor(out)?.dim_order();
    let agree = stated.iter().copied().eq(order.dims().iter().map(|dim| i64::from(*dim)));
    if agree { Ok(()) } else { Err(Error::InvalidArgument) }
}
