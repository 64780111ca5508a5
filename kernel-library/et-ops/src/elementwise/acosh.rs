//! `aten::acosh`: the positive number whose hyperbolic cosine is `x`; NaN below 1.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.acosh`.
#[cfg(feature = "catalogue")]
pub const ACOSH: Operator = Operator {
    schema: "aten::acosh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::acosh",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "floats and special values",
            1e-6,
            &[Tensor(CaseTensor::float(
                &[11],
                &[1.0, 1.0001, 1.5, 3.0, 1000.0, 3e+38, 0.5, -2.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[11],
                &[
                    0.0,
                    0.014143191,
                    0.9624237,
                    1.7627472,
                    7.600902,
                    89.28999,
                    f64::NAN,
                    f64::NAN,
                    f64::NAN,
                    f64::INFINITY,
                    f64::NAN,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[5, 1], &[1.0, 1.0001, 1.5, 3.0, 1000.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[5, 1],
                &[0.0, 0.014142017775251547, 0.9624236501192069, 1.762747174039086, 7.600902209541989],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[4], &[1.0, 1.5, 3.0, 1000.0]))],
            &[CaseTensor::of(ScalarType::Half, &[4], &[0.0, 0.96240234, 1.7626953, 7.6015625])],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[4], &[1.0, 1.5, 3.0, 1000.0]))],
            &[CaseTensor::of(ScalarType::BFloat16, &[4], &[0.0, 0.9609375, 1.765625, 7.59375])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 1.0, 5.0]))],
            &[CaseTensor::float(&[3], &[f64::NAN, 0.0, 2.2924316])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.0, f64::NAN])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Acosh, D>(args)
}

struct Acosh;

impl Function for Acosh {
    fn of<M: Math>(x: M) -> M {
        x.acosh()
    }
}
