//! `aten::sin`: the sine of angles in radians.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.sin`.
#[cfg(feature = "catalogue")]
pub const SIN: Operator = Operator {
    schema: "aten::sin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::sin",
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
                &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0, 1000.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[10],
                &[0.0, -0.0, 0.6816388, -0.997495, -0.8949894, -0.4121185, 0.82687956, f64::NAN, f64::NAN, f64::NAN],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[7, 1], &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0, 1000.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[7, 1],
                &[
                    0.0,
                    -0.0,
                    0.6816387600233341,
                    -0.9974949866040544,
                    -0.8949893582285835,
                    -0.4121184852417566,
                    0.8268795405320025,
                ],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[7], &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0, 1000.0]))],
            &[CaseTensor::of(
                ScalarType::Half,
                &[7],
                &[0.0, -0.0, 0.6816406, -0.9975586, -0.89501953, -0.41210938, 0.82666016],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 3.0, -2.0]))],
            &[CaseTensor::float(&[3], &[0.0, 0.14112, -0.9092974])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.84147096, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Sin, D>(args)
}

struct Sin;

impl Function for Sin {
    fn of<M: Math>(x: M) -> M {
        x.sin()
    }
}
