//! `aten::reciprocal`: `1 / x` of each element.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.reciprocal`.
#[cfg(feature = "catalogue")]
pub const RECIPROCAL: Operator = Operator {
    schema: "aten::reciprocal.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::reciprocal",
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
                &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[9],
                &[
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    1.3333334,
                    -0.6666667,
                    0.23529412,
                    -0.11111111,
                    f64::NAN,
                    0.0,
                    -0.0,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[6, 1],
                &[
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    1.3333333333333333,
                    -0.6666666666666666,
                    0.23529411764705882,
                    -0.1111111111111111,
                ],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[6], &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0]))],
            &[CaseTensor::of(
                ScalarType::Half,
                &[6],
                &[f64::INFINITY, f64::NEG_INFINITY, 1.3330078, -0.6665039, 0.23535156, -0.111083984],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 3.0, -2.0]))],
            &[CaseTensor::float(&[3], &[f64::INFINITY, 0.33333334, -0.5])],
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
    real::map::<Reciprocal, D>(args)
}

struct Reciprocal;

impl Function for Reciprocal {
    fn of<M: Math>(x: M) -> M {
        M::ONE / x
    }
}
