//! `aten::acos`: the angle from 0 to pi whose cosine is `x`; NaN beyond 1.

use core::f64::consts::{FRAC_PI_2, PI};

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.acos`.
#[cfg(feature = "catalogue")]
pub const ACOS: Operator = Operator {
    schema: "aten::acos.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::acos",
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
                    FRAC_PI_2,
                    FRAC_PI_2,
                    1.3181161,
                    1.8234766,
                    0.7227343,
                    2.7861714,
                    0.0,
                    PI,
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
                &[1.318116071652818, 1.8234765819369754, 0.7227342478134156, 2.7861714518995697, 0.0, PI],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[6], &[0.25, -0.25, 0.75, -0.9375, 1.0, -1.0]))],
            &[CaseTensor::of(ScalarType::Half, &[6], &[1.3183594, 1.8232422, 0.72265625, 2.7871094, 0.0, 3.140625])],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[6], &[0.25, -0.25, 0.75, -0.9375, 1.0, -1.0]))],
            &[CaseTensor::of(ScalarType::BFloat16, &[6], &[1.3203125, 1.8203125, 0.72265625, 2.78125, 0.0, 3.140625])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 1.0, -1.0]))],
            &[CaseTensor::float(&[3], &[FRAC_PI_2, 0.0, PI])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.0, FRAC_PI_2])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Acos, D>(args)
}

struct Acos;

impl Function for Acos {
    fn of<M: Math>(x: M) -> M {
        x.acos()
    }
}
