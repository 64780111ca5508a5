//! `aten::tanh`: the hyperbolic tangent.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.tanh`.
#[cfg(feature = "catalogue")]
pub const TANH: Operator = Operator {
    schema: "aten::tanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::tanh",
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
                &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0, 0.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[10],
                &[0.0, -0.0, 0.63514894, -0.90514827, 0.99959314, -0.99999994, 0.009999666, f64::NAN, 1.0, -1.0],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[7, 1], &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0, 0.01]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[7, 1],
                &[
                    0.0,
                    -0.0,
                    0.6351489523872873,
                    -0.9051482536448664,
                    0.9995931460438896,
                    -0.999999969540041,
                    0.00999966667999946,
                ],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[7], &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0, 0.010002136]))],
            &[CaseTensor::of(
                ScalarType::Half,
                &[7],
                &[0.0, -0.0, 0.6352539, -0.90527344, 0.9995117, -1.0, 0.010002136],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 3.0, -2.0]))],
            &[CaseTensor::float(&[3], &[0.0, 0.9950548, -0.9640276])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.7615942, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Tanh, D>(args)
}

struct Tanh;

impl Function for Tanh {
    fn of<M: Math>(x: M) -> M {
        x.tanh()
    }
}
