//! `executorch_prim`: numbers that become integers or floating-point numbers.

use super::number::prelude::*;
use crate::math::Math;

/// Converts a number to floating point.
#[cfg(feature = "catalogue")]
pub const SYM_FLOAT: Primitive = Primitive {
    schema: "executorch_prim::sym_float.Scalar(Scalar a) -> Scalar",
    exported: "torch.sym_float",
    path: kernel_path!(sym_float),
    result: PrimitiveResult::Double,
    kernel: sym_float,
    cases: &[Case::gives(&[Int(3)], Double(3.0)), Case::gives(&[Double(0.5)], Double(0.5))],
};

/// The integer towards 0.
#[cfg(feature = "catalogue")]
pub const SYM_INT: Primitive = Primitive {
    schema: "executorch_prim::sym_int.Scalar(Scalar a) -> Scalar",
    exported: "torch.sym_int",
    path: kernel_path!(trunc),
    result: PrimitiveResult::Int,
    kernel: trunc,
    cases: &[
        Case::gives(&[Double(-2.7)], Int(-2)),
        Case::gives(&[Int(3)], Int(3)),
        Case::refused(&[Double(f64::NAN)], Error::InvalidArgument),
    ],
};

/// The integer towards 0.
#[cfg(feature = "catalogue")]
pub const TRUNC: Primitive = Primitive {
    schema: "executorch_prim::trunc.Scalar(Scalar a) -> Scalar",
    exported: "math.trunc",
    path: kernel_path!(trunc),
    result: PrimitiveResult::Int,
    kernel: trunc,
    cases: &[
        Case::gives(&[Double(-2.7)], Int(-2)),
        Case::gives(&[Int(3)], Int(3)),
        Case::refused(&[Double(1e300)], Error::InvalidArgument),
    ],
};

/// The least integer that is not less.
#[cfg(feature = "catalogue")]
pub const CEIL: Primitive = Primitive {
    schema: "executorch_prim::ceil.Scalar(Scalar a) -> Scalar",
    exported: "math.ceil",
    path: kernel_path!(ceil),
    result: PrimitiveResult::Int,
    kernel: ceil,
    cases: &[
        Case::gives(&[Double(-2.7)], Int(-2)),
        Case::gives(&[Double(2.1)], Int(3)),
        Case::gives(&[Int(3)], Int(3)),
        Case::refused(&[Double(f64::NAN)], Error::InvalidArgument),
    ],
};

/// The nearest integer; ties round to even.
#[cfg(feature = "catalogue")]
pub const ROUND: Primitive = Primitive {
    schema: "executorch_prim::round.Scalar(Scalar a) -> Scalar",
    exported: "builtins.round",
    path: kernel_path!(round),
    result: PrimitiveResult::Int,
    kernel: round,
    cases: &[
        Case::gives(&[Double(2.5)], Int(2)),
        Case::gives(&[Double(-3.5)], Int(-4)),
        Case::gives(&[Int(3)], Int(3)),
    ],
};

/// The kernel of [`SYM_FLOAT`].
pub fn sym_float(args: &Args<'_, '_>) -> Result<()> {
    args.set(1, Value::Double(args.double(0)?))
}

/// The kernel of [`TRUNC`] and [`SYM_INT`].
pub fn trunc(args: &Args<'_, '_>) -> Result<()> {
    to_integer(args, Math::trunc)
}

/// The kernel of [`CEIL`].
pub fn ceil(args: &Args<'_, '_>) -> Result<()> {
    to_integer(args, Math::ceil)
}

/// The kernel of [`ROUND`].
pub fn round(args: &Args<'_, '_>) -> Result<()> {
    to_integer(args, Math::round_ties_even)
}

/// Integers are unchanged; a number beyond the range of `int64` is refused.
fn to_integer(args: &Args<'_, '_>, rounded: fn(f64) -> f64) -> Result<()> {
    /// 2 to the power 63.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let integer = match args.scalar(0)? {
        Scalar::Double(number) if (-LIMIT..LIMIT).contains(&number) => rounded(number) as i64,
        Scalar::Double(_) => return Err(Error::InvalidArgument),
        number => number.to_i64(),
    };
    args.set(1, Value::Int(integer))
}
