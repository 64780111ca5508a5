//! `aten::gt`: `self > other`; false for NaN.

use crate::elementwise::compare::{self, Orders};
use crate::family::{binary, unary};
use crate::prelude::*;

/// `torch.gt` of a tensor and a number.
#[cfg(feature = "catalogue")]
pub const GT_SCALAR: Operator = Operator {
    schema: "aten::gt.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::gt.Scalar",
    path: kernel_path!(scalar_out),
    dtypes: Dtypes::ALL,
    infer: unary::boolean,
    kernel: scalar_out::<ALL>,
    cases: &[
        Case::exact(
            "a float",
            &[Tensor(CaseTensor::float(&[4], &[1.0, 2.0, 3.0, f64::NAN])), Double(2.0)],
            &[CaseTensor::bool(&[4], &[0.0, 0.0, 1.0, 0.0])],
        ),
        Case::exact(
            "integers and a fraction",
            &[Tensor(CaseTensor::long(&[3], &[1.0, 2.0, 3.0])), Double(1.5)],
            &[CaseTensor::bool(&[3], &[0.0, 1.0, 1.0])],
        ),
        Case::exact(
            "the number becomes a half",
            &[Tensor(CaseTensor::of(ScalarType::Half, &[3], &[0.099975586, 0.19995117, -0.0])), Double(0.1)],
            &[CaseTensor::bool(&[3], &[0.0, 1.0, 0.0])],
        ),
        Case::exact(
            "booleans and an integer",
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])), Int(1)],
            &[CaseTensor::bool(&[2], &[0.0, 0.0])],
        ),
        Case::refused("text is no number", &[Tensor(CaseTensor::float(&[1], &[1.0])), Text("x")], Error::InvalidType),
    ],
};

/// `torch.gt` of two tensors.
#[cfg(feature = "catalogue")]
pub const GT_TENSOR: Operator = Operator {
    schema: "aten::gt.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::gt.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::ALL,
    infer: binary::boolean,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "broadcast",
            &[Tensor(CaseTensor::float(&[2, 1], &[1.0, 2.0])), Tensor(CaseTensor::float(&[3], &[1.0, 2.0, f64::NAN]))],
            &[CaseTensor::bool(&[2, 3], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0])],
        ),
        Case::exact(
            "zeros of both signs, infinities",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[4], &[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY])),
                Tensor(CaseTensor::of(ScalarType::Half, &[4], &[-0.0, 0.0, f64::INFINITY, f64::INFINITY])),
            ],
            &[CaseTensor::bool(&[4], &[0.0; 4])],
        ),
        Case::exact(
            "integers and floats promote",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[3], &[1.0, 2.0, 3.0])),
                Tensor(CaseTensor::float(&[3], &[1.5, 2.0, 2.5])),
            ],
            &[CaseTensor::bool(&[3], &[0.0, 0.0, 1.0])],
        ),
        Case::exact(
            "booleans",
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])), Tensor(CaseTensor::bool(&[2], &[0.0, 0.0]))],
            &[CaseTensor::bool(&[2], &[1.0, 0.0])],
        ),
        Case::refused(
            "shapes that do not broadcast",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Tensor(CaseTensor::float(&[3], &[1.0, 2.0, 3.0]))],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel of a tensor and a number for the types in `D`.
pub fn scalar_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    compare::with_scalar::<D>(args, Orders::GREATER)
}

/// The portable kernel of two tensors for the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    compare::tensors::<D>(args, Orders::GREATER)
}
