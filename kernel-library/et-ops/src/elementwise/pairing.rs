//! Operators that combine two numbers of a dtype into a third of the same dtype: products, maxima.

use et_core::{Args, Dtypes, Number, Result, ScalarType};

use crate::family::opmath::Opmath;
use crate::family::{binary, unary};
use crate::operator::dispatch;

/// The combination.
pub trait Pairing {
    /// Of numbers.
    fn numbers<T: Number>(left: T, right: T) -> T;
    /// Of booleans.
    fn booleans(left: bool, right: bool) -> bool;
}

/// The kernel of two tensors: arguments `self, other, out`.
pub fn tensors<P: Pairing, const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (left, right, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    let tensors = [&left, &right, &out];
    match binary::promote(&left, &right) {
        ScalarType::Bool if const { Dtypes(D).contains(ScalarType::Bool) } => {
            binary::zip::<bool, bool, D>(tensors, P::booleans)
        }
        common => dispatch!(D, common, numbers, T => binary::zip::<T, T, D>(tensors, combine::<P, T>)),
    }
}

/// The kernel of a tensor and a number: arguments `self, other, out`.
pub fn with_scalar<P: Pairing, const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, scalar, out) = (args.tensor(0)?, args.scalar(1)?, args.tensor(2)?);
    match scalar.promote(input.scalar_type()) {
        ScalarType::Bool if const { Dtypes(D).contains(ScalarType::Bool) } => {
            let right = scalar.cast();
            unary::convert::<bool, bool, D>(&input, &out, |left| P::booleans(left, right))
        }
        common => dispatch!(D, common, numbers, T => {
            let right = scalar.cast();
            unary::convert::<T, T, D>(&input, &out, |left| T::lower(P::numbers(left.raise(), right)))
        }),
    }
}

fn combine<P: Pairing, T: Opmath>(left: T, right: T) -> T {
    T::lower(P::numbers(left.raise(), right.raise()))
}
