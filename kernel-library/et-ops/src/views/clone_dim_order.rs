//! `dim_order_ops::_clone_dim_order`: a copy in the dim order of the output.

use crate::family::{copy, unary};
use crate::prelude::*;

/// `torch.clone` after export, which spells memory formats as dim orders.
#[cfg(feature = "catalogue")]
pub const CLONE_DIM_ORDER: Operator = Operator {
    schema: "dim_order_ops::_clone_dim_order.out(Tensor self, *, bool non_blocking=False, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "dim_order_ops::_clone_dim_order",
    path: kernel_path!(out),
    dtypes: Dtypes::STORED,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "floats",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.5, -0.0, f64::NAN, f64::INFINITY])), Bool(false), Ints(&[0, 1])],
            &[CaseTensor::float(&[2, 2], &[1.5, -0.0, f64::NAN, f64::INFINITY])],
        ),
        Case::exact(
            "the order of the input",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[2], &[1.0, 2.0])), Bool(false), CaseArgument::None],
            &[CaseTensor::of(ScalarType::Int, &[2], &[1.0, 2.0])],
        ),
        Case::exact(
            "booleans of rank 0",
            &[Tensor(CaseTensor::bool(&[], &[1.0])), Bool(false), Ints(&[])],
            &[CaseTensor::bool(&[], &[1.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3), Bool(false), CaseArgument::None], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    copy::check_order(args, 2, 3)?;
    copy::first_to::<D>(args, 3)
}
