//! `aten::leaky_relu`: `x` for positive elements, else `x * negative_slope`.

use et_core::Float;

use crate::family::unary;
use crate::prelude::*;

/// `torch.nn.functional.leaky_relu`.
#[cfg(feature = "catalogue")]
pub const LEAKY_RELU: Operator = Operator {
    schema: "aten::leaky_relu.out(Tensor self, Scalar negative_slope=0.01, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::leaky_relu",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "default slope",
            &[Tensor(CaseTensor::float(&[2, 2], &[-2.0, 0.5, f64::NEG_INFINITY, f64::NAN])), Double(0.01)],
            &[CaseTensor::float(&[2, 2], &[-0.02, 0.5, f64::NEG_INFINITY, f64::NAN])],
        ),
        Case::exact(
            "halves",
            &[Tensor(CaseTensor::of(ScalarType::Half, &[2], &[-3.0, 3.0])), Double(0.3)],
            &[CaseTensor::of(ScalarType::Half, &[2], &[-0.89990234, 3.0])],
        ),
        Case::exact(
            "doubles",
            &[Tensor(CaseTensor::of(ScalarType::Double, &[2], &[-1.5, 2.0])), Int(2)],
            &[CaseTensor::of(ScalarType::Double, &[2], &[-3.0, 2.0])],
        ),
        Case::refused("integers", &[Tensor(CaseTensor::long(&[1], &[1.0])), Double(0.01)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, slope, out) = (args.tensor(0)?, args.scalar(1)?, args.tensor(2)?);
    dispatch!(D, input.scalar_type(), floats, T => {
        let slope = slope.cast::<<T as Float>::Wide>();
        unary::map(&input, &out, |element: T| {
            if element > T::ZERO { element } else { T::narrow(element.widen() * slope) }
        })
    })
}
