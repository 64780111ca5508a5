//! `aten::tan`: the tangent of angles in radians.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.tan`.
#[cfg(feature = "catalogue")]
pub const TAN: Operator = Operator {
    schema: "aten::tan.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::tan",
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
                &[0.0, -0.0, 0.93159646, -14.10142, 2.006309, 0.45231566, 1.4703242, f64::NAN, f64::NAN, f64::NAN],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[5, 1], &[0.75, -1.5, 4.25, -9.0, 1000.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[5, 1],
                &[0.9315964599440725, -14.101419947171719, 2.0063090278580593, 0.45231565944180985, 1.4703241557027185],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[5], &[0.75, -1.5, 4.25, -9.0, 1000.0]))],
            &[CaseTensor::of(ScalarType::Half, &[5], &[0.9316406, -14.1015625, 2.0058594, 0.45239258, 1.4707031])],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[5], &[0.75, -1.5, 4.25, -9.0, 1000.0]))],
            &[CaseTensor::of(ScalarType::BFloat16, &[5], &[0.9296875, -14.125, 2.0, 0.453125, 1.46875])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 1.0, -1.0]))],
            &[CaseTensor::float(&[3], &[0.0, 1.5574077, -1.5574077])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[1.5574077, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Tan, D>(args)
}

struct Tan;

impl Function for Tan {
    fn of<M: Math>(x: M) -> M {
        x.tan()
    }
}
