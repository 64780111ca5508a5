//! Reading and writing numbers in slots.

use et_core::{Args, Result, Scalar, Value};

/// The imports of nearly every file of primitives.
pub(crate) mod prelude {
    pub(crate) use et_core::{Args, Error, Result, Scalar, Value};

    pub(crate) use super::{binary, is_double, pair};
    pub(crate) use crate::case::CaseArgument::{Bool, Double, Int};
    pub(crate) use crate::operator::kernel_path;
    pub(crate) use crate::primitive::{Primitive, PrimitiveCase as Case, PrimitiveResult};
}

/// Whether a number is a floating-point number.
pub(crate) const fn is_double(number: Scalar) -> bool {
    matches!(number, Scalar::Double(_))
}

/// The first two arguments.
pub(crate) fn pair(args: &Args<'_, '_>) -> Result<(Scalar, Scalar)> {
    Ok((args.scalar(0)?, args.scalar(1)?))
}

/// An operation on two numbers: in integers if both are integers or booleans, else in floating point.
pub(crate) fn binary(
    args: &Args<'_, '_>,
    integers: impl FnOnce(i64, i64) -> Result<i64>,
    doubles: impl FnOnce(f64, f64) -> Result<f64>,
) -> Result<()> {
    let (left, right) = pair(args)?;
    let value = if is_double(left) || is_double(right) {
        Value::Double(doubles(left.to_f64(), right.to_f64())?)
    } else {
        Value::Int(integers(left.to_i64(), right.to_i64())?)
    };
    args.set(2, value)
}
