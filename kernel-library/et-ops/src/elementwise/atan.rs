//! `aten::atan`: the angle from -pi/2 to pi/2 whose tangent is `x`.

use core::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.atan`.
#[cfg(feature = "catalogue")]
pub const ATAN: Operator = Operator {
    schema: "aten::atan.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::atan",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "floats and special values",
            1e-6,
            &[Tensor(CaseTensor::float(
                &[10],
                &[0.0, -0.0, 0.25, -0.75, 1.0, -2.0, 1000.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[10],
                &[0.0, -0.0, 0.24497867, -0.6435011, FRAC_PI_4, -1.1071488, 1.5697963, f64::NAN, FRAC_PI_2, -FRAC_PI_2],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[5, 1], &[0.25, -0.75, 1.0, -2.0, 1000.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[5, 1],
                &[0.24497866312686414, -0.6435011087932844, FRAC_PI_4, -1.1071487177940904, 1.5697963271282298],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[5], &[0.25, -0.75, 1.0, -2.0, 1000.0]))],
            &[CaseTensor::of(ScalarType::Half, &[5], &[0.24499512, -0.6435547, 0.78515625, -1.1074219, 1.5693359])],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[5], &[0.25, -0.75, 1.0, -2.0, 1000.0]))],
            &[CaseTensor::of(ScalarType::BFloat16, &[5], &[0.24511719, -0.64453125, 0.78515625, -1.109375, 1.5703125])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 1.0, -1.0]))],
            &[CaseTensor::float(&[3], &[0.0, FRAC_PI_4, -FRAC_PI_4])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[FRAC_PI_4, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Atan, D>(args)
}

struct Atan;

impl Function for Atan {
    fn of<M: Math>(x: M) -> M {
        x.atan()
    }
}
