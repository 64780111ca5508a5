//! `dim_order_ops::_to_dim_order_copy`: a copy in the type and dim order of the output, which the caller chooses.

use crate::family::{choice, copy};
use crate::prelude::*;

/// `torch.Tensor.to` after export, which spells memory formats as dim orders.
#[cfg(feature = "catalogue")]
pub const TO_DIM_ORDER_COPY: Operator = Operator {
    schema: "dim_order_ops::_to_dim_order_copy.out(Tensor self, *, bool non_blocking=False, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "dim_order_ops::_to_dim_order_copy",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: choice::converted::<3>,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "floats",
            &[
                Tensor(CaseTensor::float(&[2, 2], &[1.5, -0.0, f64::NAN, f64::INFINITY])),
                Bool(false),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[2, 2], &[1.5, -0.0, f64::NAN, f64::INFINITY])],
        ),
        Case::converting(
            "to integers",
            &[Tensor(CaseTensor::float(&[2], &[2.9, -2.9])), Bool(false), CaseArgument::None],
            &[CaseTensor::of(ScalarType::Int, &[2], &[2.0, -2.0])],
        ),
        Case::converting(
            "integers to halves",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2049.0])), Bool(false), CaseArgument::None],
            &[CaseTensor::of(ScalarType::Half, &[2], &[1.0, 2048.0])],
        ),
        Case::converting(
            "floats to booleans",
            &[Tensor(CaseTensor::float(&[3], &[0.0, 0.5, f64::NAN])), Bool(false), CaseArgument::None],
            &[CaseTensor::bool(&[3], &[0.0, 1.0, 1.0])],
        ),
        Case::converting(
            "from booleans",
            &[Tensor(CaseTensor::bool(&[2, 1], &[1.0, 0.0])), Bool(false), CaseArgument::None],
            &[CaseTensor::float(&[2, 1], &[1.0, 0.0])],
        ),
        Case::refused("text is no tensor", &[Text("x"), Bool(false), CaseArgument::None], Error::InvalidType),
        Case::converting(
            "a stated order",
            &[Tensor(CaseTensor::float(&[1, 2], &[1.0, 2.0])), Bool(false), Ints(&[0, 1])],
            &[CaseTensor::of(ScalarType::Double, &[1, 2], &[1.0, 2.0])],
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    copy::check_order(args, 2, 3)?;
    copy::first_to::<D>(args, 3)
}
