//! `aten::bitwise_right_shift`: bits moved towards the low end, copies of the sign moving in; broadcast and promoted.

use crate::elementwise::bitwise;
use crate::elementwise::shift;
use crate::prelude::*;

/// `torch.bitwise_right_shift` of two tensors.
#[cfg(feature = "catalogue")]
pub const BITWISE_RIGHT_SHIFT_TENSOR: Operator = Operator {
    schema: "aten::bitwise_right_shift.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::bitwise_right_shift.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: bitwise::TYPES,
    infer: shift::promoted,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "integers",
            &[Tensor(CaseTensor::long(&[2, 1], &[-5.0, 100.0])), Tensor(CaseTensor::long(&[3], &[0.0, 3.0, 63.0]))],
            &[CaseTensor::long(&[2, 3], &[-5.0, -1.0, -1.0, 100.0, 12.0, 0.0])],
        ),
        Case::exact(
            "by too many bits, and by less than none",
            &[
                Tensor(CaseTensor::of(ScalarType::Int, &[4], &[-5.0, 5.0, -5.0, 5.0])),
                Tensor(CaseTensor::of(ScalarType::Int, &[4], &[32.0, 40.0, -1.0, -64.0])),
            ],
            &[CaseTensor::of(ScalarType::Int, &[4], &[-1.0, 0.0, -1.0, 0.0])],
        ),
        Case::exact(
            "bytes",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[3], &[255.0, 129.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Byte, &[3], &[1.0, 7.0, 8.0])),
            ],
            &[CaseTensor::of(ScalarType::Byte, &[3], &[127.0, 1.0, 0.0])],
        ),
        Case::exact(
            "a byte and a signed byte meet in 16 bits",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[1], &[200.0])),
                Tensor(CaseTensor::of(ScalarType::Char, &[1], &[3.0])),
            ],
            &[CaseTensor::of(ScalarType::Short, &[1], &[25.0])],
        ),
        Case::refused(
            "booleans",
            &[Tensor(CaseTensor::bool(&[1], &[1.0])), Tensor(CaseTensor::bool(&[1], &[1.0]))],
            Error::InvalidType,
        ),
    ],
};

/// `torch.bitwise_right_shift` of a tensor and a number.
#[cfg(feature = "catalogue")]
pub const BITWISE_RIGHT_SHIFT_TENSOR_SCALAR: Operator = Operator {
    schema: "aten::bitwise_right_shift.Tensor_Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::bitwise_right_shift.Tensor_Scalar",
    path: kernel_path!(tensor_scalar_out),
    dtypes: bitwise::TYPES,
    infer: shift::promoted_with_scalar,
    kernel: tensor_scalar_out::<ALL>,
    cases: &[
        Case::exact(
            "integers",
            &[Tensor(CaseTensor::of(ScalarType::Short, &[2, 1], &[-5.0, 100.0])), Int(3)],
            &[CaseTensor::of(ScalarType::Short, &[2, 1], &[-1.0, 12.0])],
        ),
        Case::exact(
            "booleans become integers",
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])), Int(1)],
            &[CaseTensor::long(&[2], &[0.0, 0.0])],
        ),
        Case::exact(
            "by less than none",
            &[Tensor(CaseTensor::of(ScalarType::Char, &[2], &[-5.0, 5.0])), Int(-1)],
            &[CaseTensor::of(ScalarType::Char, &[2], &[-1.0, 0.0])],
        ),
        Case::refused("floats have no bits", &[Tensor(CaseTensor::float(&[1], &[1.0])), Int(1)], Error::InvalidType),
        Case::refused(
            "fractions have no bits",
            &[Tensor(CaseTensor::long(&[1], &[1.0])), Double(1.5)],
            Error::InvalidType,
        ),
    ],
};

/// The portable kernel of two tensors for the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    shift::tensors::<D>(args, shift::right)
}

/// The portable kernel of a tensor and a number for the types in `D`.
pub fn tensor_scalar_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    shift::with_scalar::<D>(args, shift::right)
}
