//! `executorch_prim`: comparisons of two numbers.

use core::cmp::Ordering;

use super::number::prelude::*;

/// Whether `a == b`.
#[cfg(feature = "catalogue")]
pub const EQ: Primitive = Primitive {
    schema: "executorch_prim::eq.Scalar(Scalar a, Scalar b) -> bool",
    exported: "_operator.eq",
    path: kernel_path!(eq),
    result: PrimitiveResult::Bool,
    kernel: eq,
    cases: &[
        Case::gives(&[Int(2), Double(2.0)], Bool(true)),
        Case::gives(&[Int(2), Int(3)], Bool(false)),
        Case::gives(&[Double(f64::NAN), Double(f64::NAN)], Bool(false)),
    ],
};

/// Whether `a > b`.
#[cfg(feature = "catalogue")]
pub const GT: Primitive = Primitive {
    schema: "executorch_prim::gt.Scalar(Scalar a, Scalar b) -> bool",
    exported: "_operator.gt",
    path: kernel_path!(gt),
    result: PrimitiveResult::Bool,
    kernel: gt,
    cases: &[Case::gives(&[Int(3), Int(2)], Bool(true)), Case::gives(&[Double(1.5), Int(2)], Bool(false))],
};

/// Whether `a < b`.
#[cfg(feature = "catalogue")]
pub const LT: Primitive = Primitive {
    schema: "executorch_prim::lt.Scalar(Scalar a, Scalar b) -> bool",
    exported: "_operator.lt",
    path: kernel_path!(lt),
    result: PrimitiveResult::Bool,
    kernel: lt,
    cases: &[Case::gives(&[Int(3), Int(2)], Bool(false)), Case::gives(&[Double(1.5), Int(2)], Bool(true))],
};

/// Whether `a >= b`.
#[cfg(feature = "catalogue")]
pub const GE: Primitive = Primitive {
    schema: "executorch_prim::ge.Scalar(Scalar a, Scalar b) -> bool",
    exported: "_operator.ge",
    path: kernel_path!(ge),
    result: PrimitiveResult::Bool,
    kernel: ge,
    cases: &[
        Case::gives(&[Int(2), Int(2)], Bool(true)),
        Case::gives(&[Double(1.5), Int(2)], Bool(false)),
        Case::gives(&[Double(f64::NAN), Int(2)], Bool(false)),
    ],
};

/// Whether `a <= b`.
#[cfg(feature = "catalogue")]
pub const LE: Primitive = Primitive {
    schema: "executorch_prim::le.Scalar(Scalar a, Scalar b) -> bool",
    exported: "_operator.le",
    path: kernel_path!(le),
    result: PrimitiveResult::Bool,
    kernel: le,
    cases: &[
        Case::gives(&[Int(2), Int(2)], Bool(true)),
        Case::gives(&[Int(3), Double(2.5)], Bool(false)),
        Case::gives(&[Int(i64::MAX), Int(i64::MAX - 1)], Bool(false)),
    ],
};

/// The kernel of [`EQ`].
pub fn eq(args: &Args<'_, '_>) -> Result<()> {
    compare(args, Ordering::is_eq)
}

/// The kernel of [`GT`].
pub fn gt(args: &Args<'_, '_>) -> Result<()> {
    compare(args, Ordering::is_gt)
}

/// The kernel of [`LT`].
pub fn lt(args: &Args<'_, '_>) -> Result<()> {
    compare(args, Ordering::is_lt)
}

/// The kernel of [`GE`].
pub fn ge(args: &Args<'_, '_>) -> Result<()> {
    compare(args, Ordering::is_ge)
}

/// The kernel of [`LE`].
pub fn le(args: &Args<'_, '_>) -> Result<()> {
    compare(args, Ordering::is_le)
}

/// Every comparison with NaN is false.
fn compare(args: &Args<'_, '_>, is_wanted: fn(Ordering) -> bool) -> Result<()> {
    let (left, right) = pair(args)?;
    let order = if is_double(left) || is_double(right) {
        left.to_f64().partial_cmp(&right.to_f64())
    } else {
        Some(left.to_i64().cmp(&right.to_i64()))
    };
    args.set(2, Value::Bool(order.is_some_and(is_wanted)))
}
