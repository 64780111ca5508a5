//! `aten::bitwise_not`: every bit inverted; for booleans, negation.

use crate::elementwise::bitwise;
use crate::family::unary;
use crate::prelude::*;

/// `torch.bitwise_not`.
#[cfg(feature = "catalogue")]
pub const BITWISE_NOT: Operator = Operator {
    schema: "aten::bitwise_not.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::bitwise_not",
    path: kernel_path!(out),
    dtypes: bitwise::TYPES,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "integers",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[3], &[0.0, -1.0, 12.0]))],
            &[CaseTensor::of(ScalarType::Int, &[3], &[-1.0, 0.0, -13.0])],
        ),
        Case::exact(
            "bytes",
            &[Tensor(CaseTensor::of(ScalarType::Byte, &[3, 1], &[0.0, 255.0, 12.0]))],
            &[CaseTensor::of(ScalarType::Byte, &[3, 1], &[255.0, 0.0, 243.0])],
        ),
        Case::exact("booleans", &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))], &[CaseTensor::bool(&[2], &[0.0, 1.0])]),
        Case::refused("floats have no bits", &[Tensor(CaseTensor::float(&[1], &[1.0]))], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    match input.scalar_type() {
        ScalarType::Bool if const { Dtypes(D).contains(ScalarType::Bool) } => {
            unary::map::<bool, bool>(&input, &out, |element| !element)
        }
        scalar_type => {
            dispatch!(D, scalar_type, integers, T => unary::map(&input, &out, inverted::<T>))
        }
    }
}

fn inverted<T: Number>(element: T) -> T {
    T::from_i64(!element.to_i64())
}
