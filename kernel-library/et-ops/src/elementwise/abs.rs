//! `aten::abs`: the absolute value of each element.

use crate::family::unary;
use crate::prelude::*;

/// `torch.abs`.
#[cfg(feature = "catalogue")]
pub const ABS: Operator = Operator {
    schema: "aten::abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::abs",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "floats",
            &[Tensor(CaseTensor::float(&[5], &[1.5, -2.0, -0.0, f64::NAN, f64::NEG_INFINITY]))],
            &[CaseTensor::float(&[5], &[1.5, 2.0, 0.0, f64::NAN, f64::INFINITY])],
        ),
        Case::exact(
            "the least integer has no opposite",
            &[Tensor(CaseTensor::of(ScalarType::Char, &[2], &[-128.0, 127.0]))],
            &[CaseTensor::of(ScalarType::Char, &[2], &[-128.0, 127.0])],
        ),
        Case::exact(
            "halves",
            &[Tensor(CaseTensor::of(ScalarType::Half, &[2, 1], &[-0.5, 3.0]))],
            &[CaseTensor::of(ScalarType::Half, &[2, 1], &[0.5, 3.0])],
        ),
        Case::refused("booleans", &[Tensor(CaseTensor::bool(&[1], &[1.0]))], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    dispatch!(D, input.scalar_type(), numbers, T => unary::map(&input, &out, magnitude::<T>))
}

fn magnitude<T: Number>(element: T) -> T {
    // The difference from 0 loses the sign of zero, too.
    if element > T::ZERO { element } else { T::ZERO.minus(element) }
}
