//! Sums and differences whose second operand has a factor.

use et_core::{Args, Error, Number, Result, Scalar, ScalarType, Tensor};

use crate::family::opmath::Opmath;
use crate::family::{binary, unary};
use crate::operator::dispatch;

/// The combination of the first operand with the scaled second.
pub trait Scaled {
    /// `left + scaled` or the like.
    fn combine<T: Number>(left: T, scaled: T) -> T;
}

/// The kernel of two tensors of numbers, computed in `common`: `self`, `other`, `out`, and the factor of the second.
pub fn tensors<S: Scaled, const D: u32>(tensors: [&Tensor<'_>; 3], alpha: Scalar, common: ScalarType) -> Result<()> {
    check_factor(common, alpha)?;
    dispatch!(D, common, numbers, T => scale_tensors::<S, T, D>(tensors, alpha))
}

/// The kernel of a tensor and a number, computed in `common`: arguments `self, other, alpha, out`.
pub fn with_scalar<S: Scaled, const D: u32>(args: &Args<'_, '_>, common: ScalarType) -> Result<()> {
    let (input, other, alpha, out) = (args.tensor(0)?, args.scalar(1)?, args.scalar(2)?, args.tensor(3)?);
    check_factor(common, alpha)?;
    dispatch!(D, common, numbers, T => {
        let scaled = scale_number::<T>(other, alpha);
        unary::convert::<T, T, D>(&input, &out, |left| T::lower(S::combine(left.raise(), scaled)))
    })
}

fn scale_tensors<S: Scaled, T: Opmath, const D: u32>(tensors: [&Tensor<'_>; 3], alpha: Scalar) -> Result<()> {
    let factor = alpha.cast::<T::Math>();
    binary::zip::<T, T, D>(tensors, |left, right| T::lower(S::combine(left.raise(), factor.times(right.raise()))))
}

fn scale_number<T: Opmath>(other: Scalar, alpha: Scalar) -> T::Math {
    alpha.cast::<T::Math>().times(other.cast())
}

/// Refuses a factor that the result's type cannot hold, as PyTorch does.
pub fn check_factor(common: ScalarType, alpha: Scalar) -> Result<()> {
    match alpha {
        Scalar::Double(_) if !common.is_float() => Err(Error::InvalidArgument),
        Scalar::Bool(_) if common != ScalarType::Bool => Err(Error::InvalidArgument),
        _ => Ok(()),
    }
}
