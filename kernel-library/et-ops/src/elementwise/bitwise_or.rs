//! `aten::bitwise_or`: bit by bit on integers and booleans, broadcast and promoted.

use crate::elementwise::bitwise;
use crate::family::binary;
use crate::prelude::*;

/// `torch.bitwise_or` of two tensors.
#[cfg(feature = "catalogue")]
pub const BITWISE_OR_TENSOR: Operator = Operator {
    schema: "aten::bitwise_or.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::bitwise_or.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: bitwise::TYPES,
    infer: binary::promoted,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "integers",
            &[Tensor(CaseTensor::long(&[2, 1], &[12.0, -1.0])), Tensor(CaseTensor::long(&[2], &[10.0, 255.0]))],
            &[CaseTensor::long(&[2, 2], &[14.0, 255.0, -1.0, -1.0])],
        ),
        Case::exact(
            "booleans",
            &[
                Tensor(CaseTensor::bool(&[4], &[1.0, 1.0, 0.0, 0.0])),
                Tensor(CaseTensor::bool(&[4], &[1.0, 0.0, 1.0, 0.0])),
            ],
            &[CaseTensor::bool(&[4], &[1.0, 1.0, 1.0, 0.0])],
        ),
        Case::exact(
            "a byte and a signed byte meet in 16 bits",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[1], &[200.0])),
                Tensor(CaseTensor::of(ScalarType::Char, &[1], &[-3.0])),
            ],
            &[CaseTensor::of(ScalarType::Short, &[1], &[-3.0])],
        ),
        Case::refused(
            "floats have no bits",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Tensor(CaseTensor::float(&[1], &[1.0]))],
            Error::InvalidType,
        ),
    ],
};

/// `torch.bitwise_or` of a tensor and a number.
#[cfg(feature = "catalogue")]
pub const BITWISE_OR_SCALAR: Operator = Operator {
    schema: "aten::bitwise_or.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::bitwise_or.Scalar",
    path: kernel_path!(scalar_out),
    dtypes: bitwise::TYPES,
    infer: binary::promoted_with_scalar,
    kernel: scalar_out::<ALL>,
    cases: &[
        Case::exact(
            "integers",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[2, 2], &[12.0, -1.0, 7.0, 0.0])), Int(10)],
            &[CaseTensor::of(ScalarType::Int, &[2, 2], &[14.0, -1.0, 15.0, 10.0])],
        ),
        Case::exact(
            "booleans",
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])), Bool(true)],
            &[CaseTensor::bool(&[2], &[1.0, 1.0])],
        ),
        Case::exact(
            "booleans become integers",
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])), Int(3)],
            &[CaseTensor::long(&[2], &[3.0, 3.0])],
        ),
        Case::exact(
            "a negative number as a byte",
            &[Tensor(CaseTensor::of(ScalarType::Byte, &[2], &[200.0, 3.0])), Int(-2)],
            &[CaseTensor::of(ScalarType::Byte, &[2], &[254.0, 255.0])],
        ),
        Case::refused(
            "fractions have no bits",
            &[Tensor(CaseTensor::long(&[1], &[1.0])), Double(1.5)],
            Error::InvalidType,
        ),
    ],
};

/// The portable kernel of two tensors for the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    bitwise::tensors::<D>(args, |left, right| left | right)
}

/// The portable kernel of a tensor and a number for the types in `D`.
pub fn scalar_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    bitwise::with_scalar::<D>(args, |left, right| left | right)
}
