//! `aten::gelu`: `x` times the probability that a standard normal variable is below `x`, or the tanh approximation.

use core::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use et_core::Float;

use crate::family::unary;
use crate::math::Math;
use crate::prelude::*;

/// `torch.nn.functional.gelu`.
#[cfg(feature = "catalogue")]
pub const GELU: Operator = Operator {
    schema: "aten::gelu.out(Tensor self, *, str approximate=\"none\", Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::gelu",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "exact",
            1e-6,
            &[Tensor(CaseTensor::float(&[2, 3], &[-3.0, -0.5, 0.0, 0.7, 2.5, f64::NAN])), Text("none")],
            &[CaseTensor::float(&[2, 3], &[-0.004050225, -0.15426877, 0.0, 0.53062546, 2.4844759, f64::NAN])],
        ),
        Case::near(
            "by the hyperbolic tangent",
            1e-6,
            &[Tensor(CaseTensor::float(&[6], &[-3.0, -0.5, 0.0, 0.7, 2.5, f64::INFINITY])), Text("tanh")],
            &[CaseTensor::float(&[6], &[-0.003637433, -0.154286, 0.0, 0.53057015, 2.4849157, f64::INFINITY])],
        ),
        Case::near(
            "halves",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[2], &[-1.0, 2.0])), Text("none")],
            &[CaseTensor::of(ScalarType::Half, &[2], &[-0.1586914, 1.9541016])],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[2], &[-1.0, 2.0])), Text("none")],
            &[CaseTensor::of(ScalarType::Double, &[2], &[-0.15865525393145702, 1.9544997361036416])],
        ),
        Case::refused(
            "an unknown approximation",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Text("exact")],
            Error::InvalidArgument,
        ),
        Case::refused("integers", &[Tensor(CaseTensor::long(&[1], &[1.0])), Text("none")], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(2)?);
    match args.optional_string(1)? {
        Some("none") => {
            dispatch!(D, input.scalar_type(), floats, T => {
                unary::map(&input, &out, |element: T| T::narrow(exact(element.widen())))
            })
        }
        Some("tanh") => {
            dispatch!(D, input.scalar_type(), floats, T => {
                unary::map(&input, &out, |element: T| T::narrow(approximate(element.widen())))
            })
        }
        _ => Err(Error::InvalidArgument),
    }
}

fn exact<M: Math>(x: M) -> M {
    let cumulative = M::HALF * (M::ONE + (x * M::from_f64(FRAC_1_SQRT_2)).erf());
    x * cumulative
}

/// Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
fn approximate<M: Math>(x: M) -> M {
    let inner = M::from_f64(FRAC_2_SQRT_PI * FRAC_1_SQRT_2) * (x + M::from_f64(0.044_715) * x * x * x);
    M::HALF * x * (M::ONE + inner.tanh())
}
