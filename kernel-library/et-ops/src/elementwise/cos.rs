//! `aten::cos`: the cosine of angles in radians.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.cos`.
#[cfg(feature = "catalogue")]
pub const COS: Operator = Operator {
    schema: "aten::cos.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::cos",
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
                &[1.0, 1.0, 0.73168886, 0.0707372, -0.44608748, -0.91113025, 0.56237906, f64::NAN, f64::NAN, f64::NAN],
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
                    1.0,
                    1.0,
                    0.7316888688738209,
                    0.0707372016677029,
                    -0.4460874899137928,
                    -0.9111302618846769,
                    0.5623790762907029,
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
                &[1.0, 1.0, 0.7314453, 0.070739746, -0.44604492, -0.9111328, 0.5625],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 3.0, -2.0]))],
            &[CaseTensor::float(&[3], &[1.0, -0.9899925, -0.41614684])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.54030234, 1.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Cos, D>(args)
}

struct Cos;

impl Function for Cos {
    fn of<M: Math>(x: M) -> M {
        x.cos()
    }
}
