//! `executorch_prim`: quotients and remainders, which round towards minus infinity as Python's do.

use super::number::prelude::*;
use crate::family::division::floor_quotient;

/// `a // b`.
#[cfg(feature = "catalogue")]
pub const FLOORDIV: Primitive = Primitive {
    schema: "executorch_prim::floordiv.Scalar(Scalar a, Scalar b) -> Scalar",
    exported: "_operator.floordiv",
    path: kernel_path!(floordiv),
    result: PrimitiveResult::Promoted(0),
    kernel: floordiv,
    cases: &[
        Case::gives(&[Int(7), Int(2)], Int(3)),
        Case::gives(&[Int(-7), Int(2)], Int(-4)),
        Case::gives(&[Int(6), Int(-3)], Int(-2)),
        Case::gives(&[Double(-7.5), Int(2)], Double(-4.0)),
        Case::gives(&[Double(1.0), Double(0.1)], Double(9.0)),
        Case::refused(&[Int(1), Int(0)], Error::InvalidArgument),
    ],
};

/// `a // b` of integers.
#[cfg(feature = "catalogue")]
pub const FLOORDIV_INT: Primitive = Primitive {
    schema: "executorch_prim::floordiv.int(int a, int b) -> int",
    exported: "_operator.floordiv",
    path: kernel_path!(floordiv),
    result: PrimitiveResult::Int,
    kernel: floordiv,
    cases: &[
        Case::gives(&[Int(7), Int(2)], Int(3)),
        Case::gives(&[Int(-7), Int(2)], Int(-4)),
        Case::gives(&[Int(6), Int(-3)], Int(-2)),
        Case::refused(&[Int(1), Int(0)], Error::InvalidArgument),
    ],
};

/// `a / b`.
#[cfg(feature = "catalogue")]
pub const TRUEDIV: Primitive = Primitive {
    schema: "executorch_prim::truediv.Scalar(Scalar a, Scalar b) -> Scalar",
    exported: "_operator.truediv",
    path: kernel_path!(truediv),
    result: PrimitiveResult::Double,
    kernel: truediv,
    cases: &[
        Case::gives(&[Int(7), Int(2)], Double(3.5)),
        Case::gives(&[Double(-1.0), Int(4)], Double(-0.25)),
        Case::refused(&[Int(1), Int(0)], Error::InvalidArgument),
    ],
};

/// `a % b`.
#[cfg(feature = "catalogue")]
pub const MOD: Primitive = Primitive {
    schema: "executorch_prim::mod.Scalar(SymInt a, SymInt b) -> SymInt",
    exported: "_operator.mod",
    path: kernel_path!(modulo),
    result: PrimitiveResult::Promoted(0),
    kernel: modulo,
    cases: &[
        Case::gives(&[Int(7), Int(3)], Int(1)),
        Case::gives(&[Int(-7), Int(3)], Int(2)),
        Case::gives(&[Int(7), Int(-3)], Int(-2)),
        Case::gives(&[Double(-7.5), Int(2)], Double(0.5)),
        Case::gives(&[Double(7.5), Double(-2.0)], Double(-0.5)),
        Case::refused(&[Int(1), Int(0)], Error::InvalidArgument),
    ],
};

/// `a % b` of integers.
#[cfg(feature = "catalogue")]
pub const MOD_INT: Primitive = Primitive {
    schema: "executorch_prim::mod.int(int a, int b) -> int",
    exported: "_operator.mod",
    path: kernel_path!(modulo),
    result: PrimitiveResult::Int,
    kernel: modulo,
    cases: &[
        Case::gives(&[Int(7), Int(3)], Int(1)),
        Case::gives(&[Int(-7), Int(3)], Int(2)),
        Case::gives(&[Int(7), Int(-3)], Int(-2)),
        Case::refused(&[Int(1), Int(0)], Error::InvalidArgument),
    ],
};

/// The kernel of [`FLOORDIV`] and [`FLOORDIV_INT`].
pub fn floordiv(args: &Args<'_, '_>) -> Result<()> {
    binary(
        args,
        |left, right| {
            let (quotient, remainder) = divided(left, right)?;
            Ok(quotient.wrapping_sub(i64::from(is_opposite(remainder, right))))
        },
        |left, right| Ok(floor_quotient(left, nonzero(right)?)),
    )
}

/// The kernel of [`MOD`] and [`MOD_INT`].
pub fn modulo(args: &Args<'_, '_>) -> Result<()> {
    binary(
        args,
        |left, right| {
            let (_, remainder) = divided(left, right)?;
            Ok(if is_opposite(remainder, right) { remainder.wrapping_add(right) } else { remainder })
        },
        |left, right| {
            let remainder = left % nonzero(right)?;
            Ok(if remainder != 0.0 && (remainder < 0.0) != (right < 0.0) { remainder + right } else { remainder })
        },
    )
}

/// The kernel of [`TRUEDIV`].
pub fn truediv(args: &Args<'_, '_>) -> Result<()> {
    let (left, right) = pair(args)?;
    args.set(2, Value::Double(left.to_f64() / nonzero(right.to_f64())?))
}

/// The quotient, rounded towards 0, and the remainder.
fn divided(left: i64, right: i64) -> Result<(i64, i64)> {
    if right == 0 {
        return Err(Error::InvalidArgument);
    }
    Ok((left.wrapping_div(right), left.wrapping_rem(right)))
}

/// Whether a remainder has another sign than the divisor: then the quotient was rounded up.
const fn is_opposite(remainder: i64, divisor: i64) -> bool {
    remainder != 0 && (remainder < 0) != (divisor < 0)
}

fn nonzero(divisor: f64) -> Result<f64> {
    if divisor == 0.0 { Err(Error::InvalidArgument) } else { Ok(divisor) }
}
