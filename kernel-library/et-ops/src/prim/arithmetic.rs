//! `executorch_prim`: sums, differences, products, negation, the greater and the lesser of two numbers.

use super::number::prelude::*;
use crate::case::CaseArgument::Text;

/// `a + b`.
#[cfg(feature = "catalogue")]
pub const ADD: Primitive = Primitive {
    schema: "executorch_prim::add.Scalar(Scalar a, Scalar b) -> Scalar",
    exported: "_operator.add",
    path: kernel_path!(add),
    result: PrimitiveResult::Promoted(0),
    kernel: add,
    cases: &[
        Case::gives(&[Int(2), Int(3)], Int(5)),
        Case::gives(&[Int(2), Double(0.5)], Double(2.5)),
        Case::gives(&[Bool(true), Bool(true)], Int(2)),
        Case::refused(&[Int(1), Text("x")], Error::InvalidType),
    ],
};

/// `a - b`.
#[cfg(feature = "catalogue")]
pub const SUB: Primitive = Primitive {
    schema: "executorch_prim::sub.Scalar(Scalar a, Scalar b) -> Scalar",
    exported: "_operator.sub",
    path: kernel_path!(sub),
    result: PrimitiveResult::Promoted(0),
    kernel: sub,
    cases: &[Case::gives(&[Int(2), Int(3)], Int(-1)), Case::gives(&[Double(0.5), Int(2)], Double(-1.5))],
};

/// `a * b`.
#[cfg(feature = "catalogue")]
pub const MUL: Primitive = Primitive {
    schema: "executorch_prim::mul.Scalar(Scalar a, Scalar b) -> Scalar",
    exported: "_operator.mul",
    path: kernel_path!(mul),
    result: PrimitiveResult::Promoted(0),
    kernel: mul,
    cases: &[Case::gives(&[Int(-2), Int(3)], Int(-6)), Case::gives(&[Double(0.5), Double(3.0)], Double(1.5))],
};

/// `-a`.
#[cfg(feature = "catalogue")]
pub const NEG: Primitive = Primitive {
    schema: "executorch_prim::neg.Scalar(Scalar a) -> Scalar",
    exported: "_operator.neg",
    path: kernel_path!(neg),
    result: PrimitiveResult::Promoted(0),
    kernel: neg,
    cases: &[
        Case::gives(&[Int(3)], Int(-3)),
        Case::gives(&[Double(0.5)], Double(-0.5)),
        Case::gives(&[Bool(true)], Int(-1)),
    ],
};

/// The greater number.
#[cfg(feature = "catalogue")]
pub const SYM_MAX: Primitive = Primitive {
    schema: "executorch_prim::sym_max.Scalar(Scalar a, Scalar b) -> Scalar",
    exported: "torch.sym_max",
    path: kernel_path!(sym_max),
    result: PrimitiveResult::Promoted(0),
    kernel: sym_max,
    cases: &[
        Case::gives(&[Int(2), Int(3)], Int(3)),
        Case::gives(&[Double(4.0), Int(2)], Double(4.0)),
        Case::gives(&[Double(1.0), Int(2)], Double(2.0)),
    ],
};

/// The lesser number.
#[cfg(feature = "catalogue")]
pub const SYM_MIN: Primitive = Primitive {
    schema: "executorch_prim::sym_min.Scalar(Scalar a, Scalar b) -> Scalar",
    exported: "torch.sym_min",
    path: kernel_path!(sym_min),
    result: PrimitiveResult::Promoted(0),
    kernel: sym_min,
    cases: &[Case::gives(&[Int(2), Int(3)], Int(2)), Case::gives(&[Double(4.0), Int(2)], Double(2.0))],
};

/// The kernel of [`ADD`].
pub fn add(args: &Args<'_, '_>) -> Result<()> {
    binary(args, |left, right| Ok(left.wrapping_add(right)), |left, right| Ok(left + right))
}

/// The kernel of [`SUB`].
pub fn sub(args: &Args<'_, '_>) -> Result<()> {
    binary(args, |left, right| Ok(left.wrapping_sub(right)), |left, right| Ok(left - right))
}

/// The kernel of [`MUL`].
pub fn mul(args: &Args<'_, '_>) -> Result<()> {
    binary(args, |left, right| Ok(left.wrapping_mul(right)), |left, right| Ok(left * right))
}

/// The kernel of [`SYM_MAX`].
pub fn sym_max(args: &Args<'_, '_>) -> Result<()> {
    binary(args, |left, right| Ok(left.max(right)), |left, right| Ok(left.max(right)))
}

/// The kernel of [`SYM_MIN`].
pub fn sym_min(args: &Args<'_, '_>) -> Result<()> {
    binary(args, |left, right| Ok(left.min(right)), |left, right| Ok(left.min(right)))
}

/// The kernel of [`NEG`].
pub fn neg(args: &Args<'_, '_>) -> Result<()> {
    let value = match args.scalar(0)? {
        Scalar::Double(number) => Value::Double(-number),
        number => Value::Int(number.to_i64().wrapping_neg()),
    };
    args.set(1, value)
}
