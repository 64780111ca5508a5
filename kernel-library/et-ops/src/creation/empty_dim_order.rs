//! `dim_order_ops::_empty_dim_order`: an uninitialized tensor. The caller chooses the dtype.

use crate::family::{copy, fill};
use crate::prelude::*;

/// `torch.empty` after export, which spells memory formats as dim orders.
#[cfg(feature = "catalogue")]
pub const EMPTY_DIM_ORDER: Operator = Operator {
    schema: "dim_order_ops::_empty_dim_order.out(int[] size, *, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "dim_order_ops::_empty_dim_order",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: fill::of_sizes::<2>,
    kernel: out::<ALL>,
    cases: &[
        Case::exact("no elements", &[Ints(&[0, 3]), Ints(&[0, 1])], &[CaseTensor::float(&[0, 3], &[])]),
        Case::converting("another type", &[Ints(&[0]), Ints(&[0])], &[CaseTensor::long(&[0], &[])]),
        Case::refused("another order than that of the output", &[Ints(&[2, 0]), Ints(&[1, 0])], Error::InvalidArgument),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    args.tensor(2)?.resize(&fill::sizes(args, 0)?)?;
    copy::check_order(args, 1, 2)
}
