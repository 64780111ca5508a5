//! `aten::atanh`: the number whose hyperbolic tangent is `x`; NaN beyond 1.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.atanh`.
#[cfg(feature = "catalogue")]
pub const ATANH: Operator = Operator {
    schema: "aten::atanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::atanh",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "floats and special values",
            1e-6,
            &[Tensor(CaseTensor::float(
                &[12],
                &[0.0, -0.0, 1e-05, 0.25, -0.75, 0.96875, 1.0, -1.0, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[12],
                &[
                    0.0,
                    -0.0,
                    1e-05,
                    0.25541282,
                    -0.9729551,
                    2.0715673,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    f64::NAN,
                    f64::NAN,
                    f64::NAN,
                    f64::NAN,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4, 1], &[1e-05, 0.25, -0.75, 0.96875]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4, 1],
                &[1.0000000000333335e-05, 0.25541281188299536, -0.9729550745276566, 2.0715673631957663],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[4], &[0.0010004044, 0.25, -0.75, 0.96875]))],
            &[CaseTensor::of(ScalarType::Half, &[4], &[0.0010004044, 0.2553711, -0.97314453, 2.0722656])],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[4], &[0.0009994507, 0.25, -0.75, 0.96875]))],
            &[CaseTensor::of(ScalarType::BFloat16, &[4], &[0.0009994507, 0.25585938, -0.97265625, 2.078125])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 1.0, -1.0]))],
            &[CaseTensor::float(&[3], &[0.0, f64::INFINITY, f64::NEG_INFINITY])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[f64::INFINITY, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Atanh, D>(args)
}

struct Atanh;

impl Function for Atanh {
    fn of<M: Math>(x: M) -> M {
        x.atanh()
    }
}
