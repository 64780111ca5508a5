//! `aten::empty`: an uninitialized tensor. The caller chooses the dtype.

use crate::family::fill;
use crate::prelude::*;

/// `torch.empty`.
#[cfg(feature = "catalogue")]
pub const EMPTY: Operator = Operator {
    schema: "aten::empty.out(SymInt[] size, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::empty.memory_format",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: fill::of_sizes::<2>,
    kernel: out::<ALL>,
    cases: &[
        Case::exact("no elements", &[Ints(&[0, 3]), CaseArgument::None], &[CaseTensor::float(&[0, 3], &[])]),
        Case::converting("another type", &[Ints(&[0]), CaseArgument::None], &[CaseTensor::long(&[0], &[])]),
        Case::refused("a negative size", &[Ints(&[2, -1]), CaseArgument::None], Error::InvalidArgument),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    args.tensor(2)?.resize(&fill::sizes(args, 0)?)
}
