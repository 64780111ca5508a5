//! `aten::log1p`: the natural logarithm of `1 + x`, without cancellation near 0.

use core::f64::consts::LN_2;

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.log1p`.
#[cfg(feature = "catalogue")]
pub const LOG1P: Operator = Operator {
    schema: "aten::log1p.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::log1p",
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
                &[0.0, -0.0, 1e-10, -0.5, -1.0, 1.5, -2.0, 3e+38, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[11],
                &[
                    0.0,
                    -0.0,
                    1e-10,
                    -LN_2,
                    f64::NEG_INFINITY,
                    0.91629076,
                    f64::NAN,
                    88.59685,
                    f64::NAN,
                    f64::INFINITY,
                    f64::NAN,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4, 1], &[1e-10, -0.5, 1.5, 40.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4, 1],
                &[9.999999999500001e-11, -LN_2, 0.9162907318741551, 3.713572066704308],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[4], &[0.0010004044, -0.5, 1.5, 40.0]))],
            &[CaseTensor::of(ScalarType::Half, &[4], &[0.0009994507, -0.6933594, 0.9165039, 3.7128906])],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[4], &[0.0009994507, -0.5, 1.5, 40.0]))],
            &[CaseTensor::of(ScalarType::BFloat16, &[4], &[0.0009994507, -0.69140625, 0.91796875, 3.71875])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 1.0, -1.0]))],
            &[CaseTensor::float(&[3], &[0.0, LN_2, f64::NEG_INFINITY])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[LN_2, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Log1p, D>(args)
}

struct Log1p;

impl Function for Log1p {
    fn of<M: Math>(x: M) -> M {
        x.ln_1p()
    }
}
