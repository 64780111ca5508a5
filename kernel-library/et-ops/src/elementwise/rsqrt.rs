//! `aten::rsqrt`: `1 / sqrt(x)` of each element.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.rsqrt`.
#[cfg(feature = "catalogue")]
pub const RSQRT: Operator = Operator {
    schema: "aten::rsqrt.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::rsqrt",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "floats and special values",
            1e-6,
            &[Tensor(CaseTensor::float(
                &[9],
                &[0.0, -0.0, 0.75, -1.5, 4.25, 9.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[9],
                &[
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    1.1547005,
                    f64::NAN,
                    0.48507127,
                    0.33333334,
                    f64::NAN,
                    0.0,
                    f64::NAN,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.0, -0.0, 0.75, -1.5, 4.25, 9.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[6, 1],
                &[
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    1.1547005383792517,
                    f64::NAN,
                    0.48507125007266594,
                    0.3333333333333333,
                ],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[6], &[0.0, -0.0, 0.75, -1.5, 4.25, 9.0]))],
            &[CaseTensor::of(
                ScalarType::Half,
                &[6],
                &[f64::INFINITY, f64::NEG_INFINITY, 1.1542969, f64::NAN, 0.48486328, 0.33325195],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 3.0, 16.0]))],
            &[CaseTensor::float(&[3], &[f64::INFINITY, 0.57735026, 0.25])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[1.0, f64::INFINITY])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Rsqrt, D>(args)
}

struct Rsqrt;

impl Function for Rsqrt {
    fn of<M: Math>(x: M) -> M {
        M::ONE / x.sqrt()
    }
}
