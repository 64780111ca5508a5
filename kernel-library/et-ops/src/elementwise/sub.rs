//! `aten::sub`: `self - alpha * other`, broadcast and promoted. Booleans have no difference.

use et_core::Scalar;

use crate::elementwise::scaled::{self, Scaled};
use crate::family::binary;
use crate::prelude::*;

/// `torch.sub` of two tensors.
#[cfg(feature = "catalogue")]
pub const SUB: Operator = Operator {
    schema: "aten::sub.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::sub.Tensor",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer: binary::promoted,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "broadcast with alpha",
            &[
                Tensor(CaseTensor::float(&[2, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::float(&[3], &[10.0, 20.0, 30.0])),
                Double(0.5),
            ],
            &[CaseTensor::float(&[2, 3], &[-4.0, -9.0, -14.0, -3.0, -8.0, -13.0])],
        ),
        Case::exact(
            "bytes wrap around",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[1], &[3.0])),
                Tensor(CaseTensor::of(ScalarType::Byte, &[1], &[5.0])),
                Int(1),
            ],
            &[CaseTensor::of(ScalarType::Byte, &[1], &[254.0])],
        ),
        Case::exact(
            "halves are rounded once",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[2], &[2048.0, 1.0])),
                Tensor(CaseTensor::of(ScalarType::Half, &[2], &[1.0, 0.3330078])),
                Double(3.0),
            ],
            &[CaseTensor::of(ScalarType::Half, &[2], &[2045.0, 0.0009765625])],
        ),
        Case::refused(
            "a fraction of an integer",
            &[Tensor(CaseTensor::long(&[1], &[3.0])), Tensor(CaseTensor::long(&[1], &[5.0])), Double(0.5)],
            Error::InvalidArgument,
        ),
        Case::refused(
            "a tensor of booleans",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Tensor(CaseTensor::bool(&[1], &[1.0])), Int(1)],
            Error::InvalidType,
        ),
    ],
};

/// `torch.sub` of a tensor and a number.
#[cfg(feature = "catalogue")]
pub const SUB_SCALAR: Operator = Operator {
    schema: "aten::sub.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::sub.Scalar",
    path: kernel_path!(scalar_out),
    dtypes: Dtypes::NUMBERS,
    infer: binary::promoted_with_scalar,
    kernel: scalar_out::<ALL>,
    cases: &[
        Case::exact(
            "a number with alpha",
            &[Tensor(CaseTensor::float(&[3], &[1.0, -2.0, f64::INFINITY])), Int(4), Int(2)],
            &[CaseTensor::float(&[3], &[-7.0, -10.0, f64::INFINITY])],
        ),
        Case::exact(
            "a fraction turns integers into floats",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), Double(0.5), Int(1)],
            &[CaseTensor::float(&[2], &[0.5, 1.5])],
        ),
        Case::refused(
            "a tensor of booleans",
            &[Tensor(CaseTensor::bool(&[1], &[1.0])), Int(1), Int(1)],
            Error::InvalidType,
        ),
        Case::refused("a boolean", &[Tensor(CaseTensor::float(&[1], &[1.0])), Bool(true), Int(1)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (left, right, alpha, out) = (args.tensor(0)?, args.tensor(1)?, args.scalar(2)?, args.tensor(3)?);
    if left.scalar_type() == ScalarType::Bool || right.scalar_type() == ScalarType::Bool {
        return Err(Error::InvalidType);
    }
    scaled::tensors::<Subtract, D>([&left, &right, &out], alpha, binary::promote(&left, &right))
}

/// The portable kernel of a tensor and a number for the types in `D`.
pub fn scalar_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, other) = (args.tensor(0)?.scalar_type(), args.scalar(1)?);
    if input == ScalarType::Bool || matches!(other, Scalar::Bool(_)) {
        return Err(Error::InvalidType);
    }
    scaled::with_scalar::<Subtract, D>(args, other.promote(input))
}

struct Subtract;

impl Scaled for Subtract {
    fn combine<T: Number>(left: T, scaled: T) -> T {
        left.minus(scaled)
    }
}
