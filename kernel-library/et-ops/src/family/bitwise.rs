//! Operators on the bits of integers, and on booleans as single bits.

use et_core::{Args, Dtypes, Element, Result, ScalarType};

use super::binary;
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
