//! `aten::expm1`: `e^x - 1`, without cancellation near 0.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.expm1`.
#[cfg(feature = "catalogue")]
pub const EXPM1: Operator = Operator {
    schema: "aten::expm1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::expm1",
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
                &[0.0, -0.0, 1e-10, -0.5, 2.5, -40.0, 100.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[10],
                &[0.0, -0.0, 1e-10, -0.39346933, 11.182494, -1.0, f64::INFINITY, f64::NAN, f64::INFINITY, -1.0],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4, 1], &[1e-10, -0.5, 2.5, -40.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4, 1],
                &[1.00000000005e-10, -0.3934693402873666, 11.182493960703473, -1.0],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[4], &[0.0010004044, -0.5, 2.5, -40.0]))],
            &[CaseTensor::of(ScalarType::Half, &[4], &[0.001001358, -0.3935547, 11.1796875, -1.0])],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[4], &[0.0009994507, -0.5, 2.5, -40.0]))],
            &[CaseTensor::of(ScalarType::BFloat16, &[4], &[0.0009994507, -0.39257812, 11.1875, -1.0])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 1.0, -1.0]))],
            &[CaseTensor::float(&[3], &[0.0, 1.7182819, -0.63212055])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[1.7182819, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Expm1, D>(args)
}

struct Expm1;

impl Function for Expm1 {
    fn of<M: Math>(x: M) -> M {
        x.expm1()
    }
}
