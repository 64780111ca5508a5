//! `executorch_prim`: conditions.

use super::number::prelude::*;

/// Whether the condition is false.
#[cfg(feature = "catalogue")]
pub const SYM_NOT: Primitive = Primitive {
    schema: "executorch_prim::sym_not.Scalar(Scalar a) -> bool",
    exported: "torch.sym_not",
    path: kernel_path!(sym_not),
    result: PrimitiveResult::Bool,
    kernel: sym_not,
    cases: &[Case::gives(&[Bool(true)], Bool(false)), Case::gives(&[Int(0)], Bool(true))],
};

/// Selects between two numbers: the first if the condition is true.
#[cfg(feature = "catalogue")]
pub const SYM_ITE: Primitive = Primitive {
    schema: "executorch_prim::sym_ite.Scalar(Scalar b, Scalar t, Scalar f) -> Scalar",
    exported: "torch.sym_ite",
    path: kernel_path!(sym_ite),
    result: PrimitiveResult::Promoted(1),
    kernel: sym_ite,
    cases: &[
        Case::gives(&[Bool(true), Int(1), Int(2)], Int(1)),
        Case::gives(&[Bool(false), Double(1.5), Double(2.5)], Double(2.5)),
    ],
};

/// The kernel of [`SYM_NOT`].
pub fn sym_not(args: &Args<'_, '_>) -> Result<()> {
    args.set(1, Value::Bool(args.double(0)? == 0.0))
}

/// The kernel of [`SYM_ITE`].
pub fn sym_ite(args: &Args<'_, '_>) -> Result<()> {
    let chosen = if args.double(0)? == 0.0 { 2 } else { 1 };
    args.scalar(chosen)?;
    args.set(3, args.value(chosen)?)
}
