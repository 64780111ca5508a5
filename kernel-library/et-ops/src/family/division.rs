//! Quotients: in full, or rounded to integers.

use core::cell::Cell;

use et_core::{Args, Error, Number, Result, ScalarType};

use super::opmath::Opmath;
use super::real::floated;
use super::{binary, unary};
use crate::math::Math;
use crate::operator::dispatch;

/// How a quotient is rounded to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Not at all.
    None,
    /// Towards 0.
    Trunc,
    /// Towards minus infinity.
    Floor,
}

impl Rounding {
    /// The rounding mode from argument `position`: absent, `trunc` or `floor`.
    pub fn of(args: &Args<'_, '_>, position: usize) -> Result<Self> {
        match args.optional_string(position)? {
            None => Ok(Self::None),
            Some("trunc") => Ok(Self::Trunc),
            Some("floor") => Ok(Self::Floor),
            Some(_) => Err(Error::InvalidArgument),
        }
    }
}

/// The kernel of two tensors: arguments `self, other, ..., out` with the output in position `out`.
pub fn tensors<const D: u32>(args: &Args<'_, '_>, rounding: Rounding, out: usize) -> Result<()> {
    let (left, right, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(out)?);
    let tensors = [&left, &right, &out];
    let common = computed(binary::promote(&left, &right), rounding);
    if common.is_float() {
        return dispatch!(D, common, floats, T => {
            binary::zip::<T, T, D>(tensors, |left, right| T::lower(divide(left.raise(), right.raise(), rounding)))
        });
    }
    let valid = Cell::new(true);
    dispatch!(D, common, integers, T => {
        binary::zip::<T, T, D>(tensors, |left, right| divide_integers(left, right, rounding, &valid))
    })?;
    if valid.get() { Ok(()) } else { Err(Error::InvalidArgument) }
}

/// The kernel of a tensor and a number: arguments `self, other, ..., out` with the output in position `out`.
pub fn with_scalar<const D: u32>(args: &Args<'_, '_>, rounding: Rounding, out: usize) -> Result<()> {
    let (input, scalar, out) = (args.tensor(0)?, args.scalar(1)?, args.tensor(out)?);
    let common = computed(scalar.promote(input.scalar_type()), rounding);
    if common.is_float() {
        return dispatch!(D, common, floats, T => {
            let right = scalar.cast();
            unary::convert::<T, T, D>(&input, &out, |left| T::lower(divide(left.raise(), right, rounding)))
        });
    }
    let valid = Cell::new(true);
    dispatch!(D, common, integers, T => {
        let right = scalar.cast();
        unary::convert::<T, T, D>(&input, &out, |left| divide_integers(left, right, rounding, &valid))
    })?;
    if valid.get() { Ok(()) } else { Err(Error::InvalidArgument) }
}

/// Full quotients of integers are floating-point numbers.
fn computed(common: ScalarType, rounding: Rounding) -> ScalarType {
    if rounding == Rounding::None { floated(common) } else { common }
}

fn divide<M: Math>(left: M, right: M, rounding: Rounding) -> M {
    match rounding {
        Rounding::None => left / right,
        Rounding::Trunc => (left / right).trunc(),
        Rounding::Floor => floor_quotient(left, right),
    }
}

/// Python's `left // right`: exact where the rounded quotient is not, because the remainder is.
pub fn floor_quotient<M: Math>(left: M, right: M) -> M {
    if right == M::ZERO {
        return left / right;
    }
    let remainder = left % right;
    let signs_differ = remainder != M::ZERO && (right < M::ZERO) != (remainder < M::ZERO);
    let quotient = (left - remainder) / right - if signs_differ { M::ONE } else { M::ZERO };
    if quotient == M::ZERO {
        return M::ZERO.with_sign_of(left / right);
    }
    let floor = quotient.floor();
    if quotient - floor > M::HALF { floor + M::ONE } else { floor }
}

/// Integer division by 0 has no quotient and clears `valid`; the least `int64` divided by -1 wraps around.
fn divide_integers<T: Number>(left: T, right: T, rounding: Rounding, valid: &Cell<bool>) -> T {
    let (left, right) = (left.to_i64(), right.to_i64());
    if right == 0 {
        valid.set(false);
        return T::ZERO;
    }
    let quotient = left.wrapping_div(right);
    let inexact = left.wrapping_rem(right) != 0;
    let above = rounding == Rounding::Floor && inexact && (left < 0) != (right < 0);
    T::from_i64(quotient - i64::from(above))
}
