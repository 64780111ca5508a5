//! `aten::neg`: the negative of each element; unsigned integers wrap around.

use crate::family::unary;
use crate::prelude::*;

/// `torch.neg`.
#[cfg(feature = "catalogue")]
pub const NEG: Operator = Operator {
    schema: "aten::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::neg",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "floats",
            &[Tensor(CaseTensor::float(&[4], &[1.5, -0.0, f64::NAN, f64::NEG_INFINITY]))],
            &[CaseTensor::float(&[4], &[-1.5, 0.0, f64::NAN, f64::INFINITY])],
        ),
        Case::exact(
            "integers wrap around",
            &[Tensor(CaseTensor::of(ScalarType::Char, &[2], &[3.0, -128.0]))],
            &[CaseTensor::of(ScalarType::Char, &[2], &[-3.0, -128.0])],
        ),
        Case::exact(
            "bytes",
            &[Tensor(CaseTensor::of(ScalarType::Byte, &[2, 1], &[0.0, 3.0]))],
            &[CaseTensor::of(ScalarType::Byte, &[2, 1], &[0.0, 253.0])],
        ),
        Case::refused("booleans", &[Tensor(CaseTensor::bool(&[1], &[1.0]))], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    dispatch!(D, input.scalar_type(), numbers, T => unary::map(&input, &out, T::negated))
}
