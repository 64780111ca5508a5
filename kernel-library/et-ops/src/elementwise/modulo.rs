//! The remainder of a division.

use core::cell::Cell;

use et_core::{Args, Error, Number, Result};

use crate::family::opmath::Opmath;
use crate::family::{binary, unary};
use crate::math::Math;
use crate::operator::dispatch;

/// Whose sign the rest has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The sign of the dividend, as in C.
    Dividend,
    /// The sign of the divisor, as in Python.
    Divisor,
}

/// The kernel of two tensors: arguments `self, other, out`.
pub fn tensors<const D: u32>(args: &Args<'_, '_>, sign: Sign) -> Result<()> {
    let (left, right, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    let (tensors, common) = ([&left, &right, &out], binary::promote(&left, &right));
    if common.is_float() {
        return dispatch!(D, common, floats, T => {
            binary::zip::<T, T, D>(tensors, |left, right| T::lower(rest(left.raise(), right.raise(), sign)))
        });
    }
    let valid = Cell::new(true);
    dispatch!(D, common, integers, T => {
        binary::zip::<T, T, D>(tensors, |left, right| rest_of_integers(left, right, sign, &valid))
    })?;
    if valid.get() { Ok(()) } else { Err(Error::InvalidArgument) }
}

/// The kernel of a tensor and a number: arguments `self, other, out`.
pub fn with_scalar<const D: u32>(args: &Args<'_, '_>, sign: Sign) -> Result<()> {
    let (input, scalar, out) = (args.tensor(0)?, args.scalar(1)?, args.tensor(2)?);
    let common = scalar.promote(input.scalar_type());
    if common.is_float() {
        return dispatch!(D, common, floats, T => {
            let right = scalar.cast::<T>().raise();
            unary::convert::<T, T, D>(&input, &out, |left| T::lower(rest(left.raise(), right, sign)))
        });
    }
    let valid = Cell::new(true);
    dispatch!(D, common, integers, T => {
        let right = scalar.cast();
        unary::convert::<T, T, D>(&input, &out, |left| rest_of_integers(left, right, sign, &valid))
    })?;
    if valid.get() { Ok(()) } else { Err(Error::InvalidArgument) }
}

fn rest<M: Math>(left: M, right: M, sign: Sign) -> M {
    let rest = left % right;
    let signs_differ = rest != M::ZERO && (right < M::ZERO) != (rest < M::ZERO);
    if sign == Sign::Divisor && signs_differ { rest + right } else { rest }
}

/// An integer division by 0 has no remainder and clears `valid`.
fn rest_of_integers<T: Number>(left: T, right: T, sign: Sign, valid: &Cell<bool>) -> T {
    let (left, right) = (left.to_i64(), right.to_i64());
    if right == 0 {
        valid.set(false);
        return T::ZERO;
    }
    let rest = left.wrapping_rem(right);
    let signs_differ = rest != 0 && (right < 0) != (rest < 0);
    T::from_i64(if sign == Sign::Divisor && signs_differ { rest + right } else { rest })
}
