//! `aten::asin`: the angle from -pi/2 to pi/2 whose sine is `x`; NaN beyond 1.

use core::f64::consts::FRAC_PI_2;

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.asin`.
#[cfg(feature = "catalogue")]
pub const ASIN: Operator = Operator {
    schema: "aten::asin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::asin",
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
                &[0.0, -0.0, 0.25, -0.25, 0.75, -0.9375, 1.0, -1.0, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[12],
                &[
                    0.0,
                    -0.0,
                    0.25268024,
                    -0.25268024,
                    0.8480621,
                    -1.2153751,
                    FRAC_PI_2,
                    -FRAC_PI_2,
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
            &[Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.25, -0.25, 0.75, -0.9375, 1.0, -1.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[6, 1],
                &[
                    0.25268025514207865,
                    -0.25268025514207865,
                    0.848062078981481,
                    -1.2153751251046732,
                    FRAC_PI_2,
                    -FRAC_PI_2,
                ],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[6], &[0.25, -0.25, 0.75, -0.9375, 1.0, -1.0]))],
            &[CaseTensor::of(
                ScalarType::Half,
                &[6],
                &[0.25268555, -0.25268555, 0.84814453, -1.2158203, 1.5703125, -1.5703125],
            )],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[6], &[0.25, -0.25, 0.75, -0.9375, 1.0, -1.0]))],
            &[CaseTensor::of(
                ScalarType::BFloat16,
                &[6],
                &[0.25195312, -0.25195312, 0.84765625, -1.21875, 1.5703125, -1.5703125],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 1.0, -1.0]))],
            &[CaseTensor::float(&[3], &[0.0, FRAC_PI_2, -FRAC_PI_2])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[FRAC_PI_2, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Asin, D>(args)
}

struct Asin;

impl Function for Asin {
    fn of<M: Math>(x: M) -> M {
        x.asin()
    }
}
