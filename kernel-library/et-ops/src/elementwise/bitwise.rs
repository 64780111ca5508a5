//! Operators on the bits of integers, and on booleans as single bits.

use et_core::{Args, Dtypes, Element, Result, ScalarType};

use crate::family::{binary, unary};
use crate::operator::dispatch;

/// The types with bits.
pub const TYPES: Dtypes = Dtypes::INTEGERS.with(ScalarType::Bool);

/// The kernel of two tensors: arguments `self, other, out`. `f` combines sign-extended integers.
pub fn tensors<const D: u32>(args: &Args<'_, '_>, f: impl Fn(i64, i64) -> i64) -> Result<()> {
    let (left, right, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    let tensors = [&left, &right, &out];
    match binary::promote(&left, &right) {
        ScalarType::Bool if const { Dtypes(D).contains(ScalarType::Bool) } => {
            binary::zip::<bool, bool, D>(tensors, |left, right| bool::from_i64(f(left.to_i64(), right.to_i64())))
        }
        common => dispatch!(D, common, integers, T => {
            binary::zip::<T, T, D>(tensors, |left, right| T::from_i64(f(left.to_i64(), right.to_i64())))
        }),
    }
}

/// The kernel of a tensor and a number: arguments `self, other, out`.
pub fn with_scalar<const D: u32>(args: &Args<'_, '_>, f: impl Fn(i64, i64) -> i64) -> Result<()> {
    let (input, scalar, out) = (args.tensor(0)?, args.scalar(1)?, args.tensor(2)?);
    match scalar.promote(input.scalar_type()) {
        ScalarType::Bool if const { Dtypes(D).contains(ScalarType::Bool) } => {
            unary::convert::<bool, bool, D>(&input, &out, |left| bool::from_i64(f(left.to_i64(), scalar.to_i64())))
        }
        common => dispatch!(D, common, integers, T => {
            let right = scalar.cast::<T>().to_i64();
            unary::convert::<T, T, D>(&input, &out, |left| T::from_i64(f(left.to_i64(), right)))
        }),
    }
}
