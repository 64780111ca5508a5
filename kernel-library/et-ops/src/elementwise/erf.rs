//! `aten::erf`: the error function.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.erf`.
#[cfg(feature = "catalogue")]
pub const ERF: Operator = Operator {
    schema: "aten::erf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::erf",
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
                &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0, 0.01, -2.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[11],
                &[0.0, -0.0, 0.71115565, -0.96610516, 1.0, -1.0, 0.011283415, -0.999593, f64::NAN, 1.0, -1.0],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[8, 1], &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0, 0.01, -2.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[8, 1],
                &[
                    0.0,
                    -0.0,
                    0.7111556336535151,
                    -0.9661051464753108,
                    0.9999999981494259,
                    -1.0,
                    0.011283415555849618,
                    -0.999593047982555,
                ],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[8], &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0, 0.010002136, -2.5]))],
            &[CaseTensor::of(
                ScalarType::Half,
                &[8],
                &[0.0, -0.0, 0.7109375, -0.9663086, 1.0, -1.0, 0.0112838745, -0.9995117],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 3.0, -2.0]))],
            &[CaseTensor::float(&[3], &[0.0, 0.9999779, -0.9953223])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.8427008, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Erf, D>(args)
}

struct Erf;

impl Function for Erf {
    fn of<M: Math>(x: M) -> M {
        x.erf()
    }
}
