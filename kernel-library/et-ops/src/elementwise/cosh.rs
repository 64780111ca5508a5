//! `aten::cosh`: the hyperbolic cosine.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.cosh`.
#[cfg(feature = "catalogue")]
pub const COSH: Operator = Operator {
    schema: "aten::cosh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::cosh",
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
                &[0.0, -0.0, 1e-05, -0.75, 1.5, -9.0, 89.25, -100.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[11],
                &[
                    1.0,
                    1.0,
                    1.0,
                    1.2946833,
                    2.3524096,
                    4051.542,
                    2.8823884e+38,
                    f64::INFINITY,
                    f64::NAN,
                    f64::INFINITY,
                    f64::INFINITY,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4, 1], &[1e-05, -0.75, 1.5, -9.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4, 1],
                &[1.00000000005, 1.2946832846768448, 2.352409615243247, 4051.5420254925943],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[4], &[0.0010004044, -0.75, 1.5, -9.0]))],
            &[CaseTensor::of(ScalarType::Half, &[4], &[1.0, 1.2949219, 2.3515625, 4052.0])],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[4], &[0.0009994507, -0.75, 1.5, -9.0]))],
            &[CaseTensor::of(ScalarType::BFloat16, &[4], &[1.0, 1.296875, 2.359375, 4048.0])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 1.0, -1.0]))],
            &[CaseTensor::float(&[3], &[1.0, 1.5430806, 1.5430806])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[1.5430806, 1.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Cosh, D>(args)
}

struct Cosh;

impl Function for Cosh {
    fn of<M: Math>(x: M) -> M {
        x.cosh()
    }
}
