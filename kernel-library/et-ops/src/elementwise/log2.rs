//! `aten::log2`: the logarithm to base 2.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.log2`.
#[cfg(feature = "catalogue")]
pub const LOG2: Operator = Operator {
    schema: "aten::log2.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::log2",
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
                &[0.0, -0.0, 1.0, 8.0, 0.125, 2.5, -1.0, 3e+38, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[11],
                &[
                    f64::NEG_INFINITY,
                    f64::NEG_INFINITY,
                    0.0,
                    3.0,
                    -3.0,
                    1.3219281,
                    f64::NAN,
                    127.81823,
                    f64::NAN,
                    f64::INFINITY,
                    f64::NAN,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4, 1], &[1.0, 8.0, 0.125, 2.5]))],
            &[CaseTensor::of(ScalarType::Double, &[4, 1], &[0.0, 3.0, -3.0, 1.3219280948873624])],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[4], &[1.0, 8.0, 0.125, 2.5]))],
            &[CaseTensor::of(ScalarType::Half, &[4], &[0.0, 3.0, -3.0, 1.3222656])],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[4], &[1.0, 8.0, 0.125, 2.5]))],
            &[CaseTensor::of(ScalarType::BFloat16, &[4], &[0.0, 3.0, -3.0, 1.3203125])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 1.0, 64.0]))],
            &[CaseTensor::float(&[3], &[f64::NEG_INFINITY, 0.0, 6.0])],
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
    real::map::<Log2, D>(args)
}

struct Log2;

impl Function for Log2 {
    fn of<M: Math>(x: M) -> M {
        x.log2()
    }
}
