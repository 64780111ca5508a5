//! `aten::sign`: 1, 0 or -1; 0 for NaN. Boolean tensors are copied.

use crate::family::unary;
use crate::prelude::*;

/// `torch.sign`.
#[cfg(feature = "catalogue")]
pub const SIGN: Operator = Operator {
    schema: "aten::sign.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::sign",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "floats",
            &[Tensor(CaseTensor::float(&[5], &[1.5, -2.0, -0.0, f64::NAN, f64::NEG_INFINITY]))],
            &[CaseTensor::float(&[5], &[1.0, -1.0, 0.0, 0.0, -1.0])],
        ),
        Case::exact(
            "integers",
            &[Tensor(CaseTensor::of(ScalarType::Char, &[3, 1], &[-128.0, 0.0, 7.0]))],
            &[CaseTensor::of(ScalarType::Char, &[3, 1], &[-1.0, 0.0, 1.0])],
        ),
        Case::exact("booleans", &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))], &[CaseTensor::bool(&[2], &[1.0, 0.0])]),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    match input.scalar_type() {
        ScalarType::Bool if const { Dtypes(D).contains(ScalarType::Bool) } => {
            unary::map::<bool, bool>(&input, &out, |element| element)
        }
        scalar_type => dispatch!(D, scalar_type, numbers, T => unary::map(&input, &out, sign::<T>)),
    }
}

fn sign<T: Number>(element: T) -> T {
    if element > T::ZERO {
        T::ONE
    } else if element < T::ZERO {
        T::ONE.negated()
    } else {
        T::ZERO
    }
}
