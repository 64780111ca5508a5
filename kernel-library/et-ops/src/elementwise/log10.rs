//! `aten::log10`: the logarithm to base 10.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.log10`.
#[cfg(feature = "catalogue")]
pub const LOG10: Operator = Operator {
    schema: "aten::log10.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::log10",
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
                &[0.0, -0.0, 1.0, 10.0, 0.001, 2.5, -1.0, 3e+38, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[11],
                &[
                    f64::NEG_INFINITY,
                    f64::NEG_INFINITY,
                    0.0,
                    1.0,
                    -3.0,
                    0.39794,
                    f64::NAN,
                    38.47712,
                    f64::NAN,
                    f64::INFINITY,
                    f64::NAN,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[5, 1], &[1.0, 10.0, 1000.0, 0.001, 2.5]))],
            &[CaseTensor::of(ScalarType::Double, &[5, 1], &[0.0, 1.0, 3.0, -3.0, 0.3979400086720376])],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[4], &[1.0, 10.0, 1000.0, 0.25]))],
            &[CaseTensor::of(ScalarType::Half, &[4], &[0.0, 1.0, 3.0, -0.6020508])],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[4], &[1.0, 10.0, 1000.0, 0.25]))],
            &[CaseTensor::of(ScalarType::BFloat16, &[4], &[0.0, 1.0, 3.0, -0.6015625])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 1.0, 100.0]))],
            &[CaseTensor::float(&[3], &[f64::NEG_INFINITY, 0.0, 2.0])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.0, f64::NEG_INFINITY])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Log10, D>(args)
}

struct Log10;

impl Function for Log10 {
    fn of<M: Math>(x: M) -> M {
        x.log10()
    }
}
