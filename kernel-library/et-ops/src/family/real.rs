//! Functions of one real number.

use et_core::{Args, Dtypes, Error, Float, Result, ScalarType, Tensor};

use super::convert::is_mixed;
use super::unary;
use crate::Meta;
use crate::math::Math;
use crate::operator::dispatch;

/// A floating-point element that is computed in a type with elementary functions.
pub trait Real: Float<Wide: Math> {}

impl<T: Float<Wide: Math>> Real for T {}

/// The function.
pub trait Function {
    /// Its value at `x`.
    fn of<M: Math>(x: M) -> M;
}

/// The rule of functions that give real numbers: integers and booleans become `float32`.
pub fn promoted(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let first = args.tensor(0)?;
    Ok(Meta { scalar_type: floated(first.scalar_type()), shape: first.shape() })
}

/// The type itself, or `float32` where it has no fractions.
pub const fn floated(scalar_type: ScalarType) -> ScalarType {
    if scalar_type.is_float() { scalar_type } else { ScalarType::Float }
}

/// The kernel of functions that give real numbers: arguments `self, out`.
pub fn map<F: Function, const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    if input.scalar_type().is_float() {
        map_floats::<F, D>(&input, &out)
    } else if const { is_mixed(D) && Dtypes(D).contains(ScalarType::Float) } {
        unary::convert::<f32, f32, D>(&input, &out, F::of)
    } else {
        Err(Error::InvalidType)
    }
}

/// The kernel of functions that round to an integer, and so keep integers: arguments `self, out`.
pub fn round<F: Function, const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    if input.scalar_type().is_float() {
        map_floats::<F, D>(&input, &out)
    } else {
        dispatch!(D, input.scalar_type(), integers, T => unary::map::<T, T>(&input, &out, |element| element))
    }
}

fn map_floats<F: Function, const D: u32>(input: &Tensor<'_>, out: &Tensor<'_>) -> Result<()> {
    dispatch!(D, input.scalar_type(), floats, T => unary::map::<T, T>(input, out, at::<F, T>))
}

fn at<F: Function, T: Real>(x: T) -> T {
    T::narrow(F::of(x.widen()))
}
