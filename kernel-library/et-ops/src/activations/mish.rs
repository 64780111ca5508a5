//! `aten::mish`: `x tanh(ln(1 + e^x))`.

use crate::family::real::{self, Function};
use crate::family::unary;
use crate::math::Math;
use crate::prelude::*;

/// `torch.nn.functional.mish`.
#[cfg(feature = "catalogue")]
pub const MISH: Operator = Operator {
    schema: "aten::mish.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::mish",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "floats and special values",
            1e-6,
            &[Tensor(CaseTensor::float(
                &[11],
                &[-4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[11],
                &[
                    -0.07259175,
                    -0.14564747,
                    -0.22074376,
                    0.0,
                    0.1695724,
                    2.986535,
                    4.9995522,
                    90.0,
                    f64::NAN,
                    f64::INFINITY,
                    f64::NAN,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[8, 1], &[-4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[8, 1],
                &[
                    -0.07259174079202535,
                    -0.1456474612756246,
                    -0.22074377465173,
                    0.0,
                    0.1695724096638176,
                    2.9865350049679575,
                    4.999552077529406,
                    90.0,
                ],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[8], &[-4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0]))],
            &[CaseTensor::of(
                ScalarType::Half,
                &[8],
                &[-0.0725708, -0.14562988, -0.22070312, 0.0, 0.16955566, 2.9863281, 5.0, 90.0],
            )],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[8], &[-4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0]))],
            &[CaseTensor::of(
                ScalarType::BFloat16,
                &[8],
                &[-0.072753906, -0.14550781, -0.22070312, 0.0, 0.16992188, 2.984375, 5.0, 90.0],
            )],
        ),
        Case::refused("integers", &[Tensor(CaseTensor::long(&[1], &[1.0]))], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::activate::<Mish, D>(args)
}

struct Mish;

impl Function for Mish {
    fn of<M: Math>(x: M) -> M {
        x * x.exp().ln_1p().tanh()
    }
}
