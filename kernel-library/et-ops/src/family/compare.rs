//! Comparisons: pairs of elements to booleans by their order, which NaN does not have.

use core::cmp::Ordering;

use et_core::{Args, Result};

use super::{binary, unary};
use crate::operator::dispatch;

/// The kernel of two tensors: arguments `self, other, out`.
pub fn tensors<const D: u32>(args: &Args<'_, '_>, holds: impl Fn(Option<Ordering>) -> bool) -> Result<()> {
    let (left, right, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    dispatch!(D, binary::promote(&left, &right), all, T => {
        binary::zip::<T, bool, D>([&left, &right, &out], |left, right| holds(left.partial_cmp(&right)))
    })
}

/// The kernel of a tensor and a number: arguments `self, other, out`.
pub fn with_scalar<const D: u32>(args: &Args<'_, '_>, holds: impl Fn(Option<Ordering>) -> bool) -> Result<()> {
    let (input, scalar, out) = (args.tensor(0)?, args.scalar(1)?, args.tensor(2)?);
    dispatch!(D, scalar.promote(input.scalar_type()), all, T => {
        let right = scalar.cast::<T>();
        unary::convert::<T, bool, D>(&input, &out, |left| holds(left.partial_cmp(&right)))
    })
}
