//! Functions of a real number.

use core::marker::PhantomData;

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
    /// The value of the function at `x`.
    fn of<M: Math>(x: M) -> M;
}

/// A function with parameters.
pub trait Formula {
    /// The value of the function at `x`.
    fn at<M: Math>(&self, x: M) -> M;
}

/// A function has no parameters.
impl<F: Function> Formula for PhantomData<F> {
    fn at<M: Math>(&self, x: M) -> M {
        F::of(x)
    }
}

/// The rule of functions that give real numbers: integers and booleans become `float32`.
pub fn promoted(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let first = args.tensor(0)?;
    Ok(Meta { scalar_type: floated(first.scalar_type()), shape: first.shape() })
}

/// The dtype if it is a floating-point type, else `float32`.
pub const fn floated(scalar_type: ScalarType) -> ScalarType {
    if scalar_type.is_float() { scalar_type } else { ScalarType::Float }
}

/// The kernel of functions that give real numbers: arguments `self, out`.
pub fn map<F: Function, const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    map_formula::<_, D>(&args.tensor(0)?, &args.tensor(1)?, &PhantomData::<F>)
}

/// As [`map`], of a function with parameters.
pub fn map_formula<F: Formula, const D: u32>(input: &Tensor<'_>, out: &Tensor<'_>, formula: &F) -> Result<()> {
    if input.scalar_type().is_float() {
        map_floats::<F, D>(input, out, formula)
    } else if const { is_mixed(D) && Dtypes(D).contains(ScalarType::Float) } {
        unary::convert::<f32, f32, D>(input, out, |x| formula.at(x))
    } else {
        Err(Error::InvalidType)
    }
}

/// The kernel of functions that round to an integer, and so keep integers: arguments `self, out`.
pub fn round<F: Function, const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    if input.scalar_type().is_float() {
        map_floats::<_, D>(&input, &out, &PhantomData::<F>)
    } else {
        dispatch!(D, input.scalar_type(), integers, T => unary::map::<T, T>(&input, &out, |element| element))
    }
}

/// The kernel of functions of floating-point numbers only: arguments `self, out`.
pub fn activate<F: Function, const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    map_floats::<_, D>(&args.tensor(0)?, &args.tensor(1)?, &PhantomData::<F>)
}

/// Stores the function's values at floating-point elements; integer tensors are refused.
pub fn map_floats<F: Formula, const D: u32>(input: &Tensor<'_>, out: &Tensor<'_>, formula: &F) -> Result<()> {
    dispatch!(D, input.scalar_type(), floats, T => unary::map::<T, T>(input, out, |x| at(formula, x)))
}

fn at<F: Formula, T: Real>(formula: &F, x: T) -> T {
    T::narrow(formula.at(x.widen()))
}
