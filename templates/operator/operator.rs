//! `aten::placeholder`: the value of each element of the result.

use crate::family::unary;
use crate::prelude::*;

/// `torch.placeholder`.
#[cfg(feature = "catalogue")]
pub const PLACEHOLDER: Operator = Operator {
    schema: "aten::placeholder.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::placeholder",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "floats and special values",
            &[Tensor(CaseTensor::float(&[4], &[1.5, -0.0, f64::NAN, f64::NEG_INFINITY]))],
            &[CaseTensor::float(&[4], &[1.5, -0.0, f64::NAN, f64::NEG_INFINITY])],
        ),
        Case::exact(
            "integers",
            &[Tensor(CaseTensor::long(&[2, 1], &[-3.0, 3.0]))],
            &[CaseTensor::long(&[2, 1], &[-3.0, 3.0])],
        ),
        Case::refused("booleans", &[Tensor(CaseTensor::bool(&[1], &[1.0]))], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    dispatch!(D, input.scalar_type(), numbers, T => unary::map(&input, &out, compute::<T>))
}

fn compute<T: Number>(element: T) -> T {
    element
}
