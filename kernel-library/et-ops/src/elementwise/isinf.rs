//! `aten::isinf`: whether an element is infinite. Integers and booleans never are.

use et_core::Scalar;

use crate::family::fill::fill;
use crate::family::unary;
use crate::prelude::*;

/// `torch.isinf`.
#[cfg(feature = "catalogue")]
pub const ISINF: Operator = Operator {
    schema: "aten::isinf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::isinf",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: unary::boolean,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "floats",
            &[Tensor(CaseTensor::float(&[5], &[0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3e+38]))],
            &[CaseTensor::bool(&[5], &[0.0, 0.0, 1.0, 1.0, 0.0])],
        ),
        Case::exact(
            "halves",
            &[Tensor(CaseTensor::of(
                ScalarType::Half,
                &[4, 1],
                &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 65504.0],
            ))],
            &[CaseTensor::bool(&[4, 1], &[0.0, 1.0, 1.0, 0.0])],
        ),
        Case::exact(
            "integers",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[2], &[0.0, 2147483647.0]))],
            &[CaseTensor::bool(&[2], &[0.0, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    if input.scalar_type().is_float() {
        dispatch!(D, input.scalar_type(), floats, T => unary::map(&input, &out, is_infinite::<T>))
    } else {
        fill::<D>(&out, &input.shape(), Scalar::Bool(false))
    }
}

fn is_infinite<T: Number>(element: T) -> bool {
    element == T::HIGHEST || element == T::LOWEST
}
