//! `aten::remainder`: the remainder with the sign of the divisor; broadcast and promoted.

use crate::elementwise::modulo::{self, Sign};
use crate::family::binary;
use crate::prelude::*;

/// `torch.remainder` of a tensor and a number.
#[cfg(feature = "catalogue")]
pub const REMAINDER_SCALAR: Operator = Operator {
    schema: "aten::remainder.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::remainder.Scalar",
    path: kernel_path!(scalar_out),
    dtypes: Dtypes::ALL,
    infer: binary::promoted_with_scalar,
    kernel: scalar_out::<ALL>,
    cases: &[
        Case::exact(
            "floats",
            &[Tensor(CaseTensor::float(&[3, 2], &[5.0, -5.0, 6.0, -6.0, f64::INFINITY, f64::NAN])), Double(3.0)],
            &[CaseTensor::float(&[3, 2], &[2.0, 1.0, 0.0, -0.0, f64::NAN, f64::NAN])],
        ),
        Case::exact(
            "integers",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[3], &[5.0, -5.0, 6.0])), Int(-3)],
            &[CaseTensor::of(ScalarType::Int, &[3], &[-1.0, -2.0, 0.0])],
        ),
        Case::exact(
            "a fraction turns integers into floats",
            &[Tensor(CaseTensor::long(&[2], &[5.0, -5.0])), Double(1.5)],
            &[CaseTensor::float(&[2], &[0.5, 1.0])],
        ),
        Case::exact(
            "booleans become integers",
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])), Int(2)],
            &[CaseTensor::long(&[2], &[1.0, 0.0])],
        ),
        Case::exact(
            "halves",
            &[Tensor(CaseTensor::of(ScalarType::Half, &[2], &[5.5, -5.5])), Int(2)],
            &[CaseTensor::of(ScalarType::Half, &[2], &[1.5, 0.5])],
        ),
        Case::exact(
            "a negative number as a byte",
            &[Tensor(CaseTensor::of(ScalarType::Byte, &[2], &[5.0, 253.0])), Int(-3)],
            &[CaseTensor::of(ScalarType::Byte, &[2], &[5.0, 0.0])],
        ),
        Case::refused("integers by 0", &[Tensor(CaseTensor::long(&[1], &[1.0])), Int(0)], Error::InvalidArgument),
    ],
};

/// `torch.remainder` of two tensors.
#[cfg(feature = "catalogue")]
pub const REMAINDER_TENSOR: Operator = Operator {
    schema: "aten::remainder.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::remainder.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::ALL,
    infer: binary::promoted,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "floats and special values",
            &[
                Tensor(CaseTensor::float(
                    &[11],
                    &[5.0, -5.0, 5.0, f64::INFINITY, 1.0, f64::NAN, 0.0, -0.0, -6.0, -3.0, 3.0],
                )),
                Tensor(CaseTensor::float(
                    &[11],
                    &[3.0, 3.0, -3.0, 2.0, 0.0, 1.0, 5.0, 5.0, 3.0, f64::INFINITY, f64::NEG_INFINITY],
                )),
            ],
            &[CaseTensor::float(
                &[11],
                &[2.0, 1.0, -1.0, f64::NAN, f64::NAN, f64::NAN, 0.0, -0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY],
            )],
        ),
        Case::exact(
            "integers, broadcast",
            &[Tensor(CaseTensor::long(&[2, 1], &[7.0, -7.0])), Tensor(CaseTensor::long(&[2], &[3.0, -3.0]))],
            &[CaseTensor::long(&[2, 2], &[1.0, -2.0, 2.0, -1.0])],
        ),
        Case::exact(
            "the least integer by -1",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[1], &[-128.0])),
                Tensor(CaseTensor::of(ScalarType::Char, &[1], &[-1.0])),
            ],
            &[CaseTensor::of(ScalarType::Char, &[1], &[0.0])],
        ),
        Case::exact(
            "integers and floats promote",
            &[
                Tensor(CaseTensor::of(ScalarType::Int, &[2], &[7.0, -7.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2], &[2.5, 2.5])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[2], &[2.0, 0.5])],
        ),
        Case::exact(
            "16-bit floats with the exponents of 32-bit ones",
            &[
                Tensor(CaseTensor::of(ScalarType::BFloat16, &[2], &[5.5, -7.0])),
                Tensor(CaseTensor::of(ScalarType::BFloat16, &[2], &[2.0, 3.0])),
            ],
            &[CaseTensor::of(ScalarType::BFloat16, &[2], &[1.5, 2.0])],
        ),
        Case::refused(
            "integers by 0",
            &[Tensor(CaseTensor::long(&[1], &[1.0])), Tensor(CaseTensor::long(&[1], &[0.0]))],
            Error::InvalidArgument,
        ),
        Case::refused(
            "booleans",
            &[Tensor(CaseTensor::bool(&[1], &[1.0])), Tensor(CaseTensor::bool(&[1], &[1.0]))],
            Error::InvalidType,
        ),
    ],
};

/// The portable kernel of a tensor and a number for the types in `D`.
pub fn scalar_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    modulo::with_scalar::<D>(args, Sign::Divisor)
}

/// The portable kernel of two tensors for the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    modulo::tensors::<D>(args, Sign::Divisor)
}
