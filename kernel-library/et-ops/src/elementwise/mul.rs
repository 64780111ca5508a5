//! `aten::mul`: the product, broadcast and promoted.

use crate::elementwise::pairing::{self, Pairing};
use crate::family::binary;
use crate::prelude::*;

/// `torch.mul` of two tensors.
#[cfg(feature = "catalogue")]
pub const MUL: Operator = Operator {
    schema: "aten::mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::mul.Tensor",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: binary::promoted,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "broadcast",
            &[
                Tensor(CaseTensor::float(&[2, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::float(&[3], &[10.0, f64::NAN, f64::NEG_INFINITY])),
            ],
            &[CaseTensor::float(&[2, 3], &[10.0, f64::NAN, f64::NEG_INFINITY, 20.0, f64::NAN, f64::NEG_INFINITY])],
        ),
        Case::exact(
            "equal shapes",
            &[
                Tensor(CaseTensor::float(&[3], &[1.5, -2.0, 0.0])),
                Tensor(CaseTensor::float(&[3], &[2.0, 0.5, f64::INFINITY])),
            ],
            &[CaseTensor::float(&[3], &[3.0, -1.0, f64::NAN])],
        ),
        Case::exact(
            "integers wrap around",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[2], &[100.0, -7.0])),
                Tensor(CaseTensor::of(ScalarType::Char, &[2], &[2.0, 3.0])),
            ],
            &[CaseTensor::of(ScalarType::Char, &[2], &[-56.0, -21.0])],
        ),
        Case::exact(
            "booleans",
            &[Tensor(CaseTensor::bool(&[3], &[1.0, 1.0, 0.0])), Tensor(CaseTensor::bool(&[3], &[1.0, 0.0, 0.0]))],
            &[CaseTensor::bool(&[3], &[1.0, 0.0, 0.0])],
        ),
        Case::refused(
            "shapes that do not broadcast",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Tensor(CaseTensor::float(&[3], &[1.0, 2.0, 3.0]))],
            Error::InvalidArgument,
        ),
    ],
};

/// `torch.mul` of a tensor and a number.
#[cfg(feature = "catalogue")]
pub const MUL_SCALAR: Operator = Operator {
    schema: "aten::mul.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::mul.Scalar",
    path: kernel_path!(scalar_out),
    dtypes: Dtypes::ALL,
    infer: binary::promoted_with_scalar,
    kernel: scalar_out::<ALL>,
    cases: &[
        Case::exact(
            "a float",
            &[Tensor(CaseTensor::float(&[2], &[1.0, -2.0])), Double(0.5)],
            &[CaseTensor::float(&[2], &[0.5, -1.0])],
        ),
        Case::exact(
            "the factor of halves is not rounded to a half",
            &[Tensor(CaseTensor::of(ScalarType::Half, &[3], &[3.0, 7.0, 1000.0])), Double(0.1)],
            &[CaseTensor::of(ScalarType::Half, &[3], &[0.30004883, 0.7001953, 100.0])],
        ),
        Case::exact(
            "a fraction turns integers into floats",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[2], &[1.0, 3.0])), Double(0.5)],
            &[CaseTensor::float(&[2], &[0.5, 1.5])],
        ),
        Case::exact(
            "booleans and an integer",
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])), Int(3)],
            &[CaseTensor::long(&[2], &[3.0, 0.0])],
        ),
        Case::refused("text is no number", &[Tensor(CaseTensor::float(&[1], &[1.0])), Text("x")], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    pairing::tensors::<Multiply, D>(args)
}

/// The portable kernel of a tensor and a number for the types in `D`.
pub fn scalar_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    pairing::with_scalar::<Multiply, D>(args)
}

struct Multiply;

impl Pairing for Multiply {
    fn numbers<T: Number>(left: T, right: T) -> T {
        left.times(right)
    }

    fn booleans(left: bool, right: bool) -> bool {
        left & right
    }
}
