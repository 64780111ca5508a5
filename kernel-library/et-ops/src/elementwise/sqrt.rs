//! `aten::sqrt`: the square root, correctly rounded.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.sqrt`.
#[cfg(feature = "catalogue")]
pub const SQRT: Operator = Operator {
    schema: "aten::sqrt.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::sqrt",
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
                &[0.0, -0.0, 0.8660254, f64::NAN, 2.0615528, 3.0, f64::NAN, f64::INFINITY, f64::NAN],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.0, -0.0, 0.75, -1.5, 4.25, 9.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[6, 1],
                &[0.0, -0.0, 0.8660254037844386, f64::NAN, 2.0615528128088303, 3.0],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[6], &[0.0, -0.0, 0.75, -1.5, 4.25, 9.0]))],
            &[CaseTensor::of(ScalarType::Half, &[6], &[0.0, -0.0, 0.86621094, f64::NAN, 2.0625, 3.0])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 3.0, 16.0]))],
            &[CaseTensor::float(&[3], &[0.0, 1.7320508, 4.0])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[1.0, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Sqrt, D>(args)
}

struct Sqrt;

impl Function for Sqrt {
    fn of<M: Math>(x: M) -> M {
        x.sqrt()
    }
}
