//! `aten::sigmoid`: `1 / (1 + e^-x)`.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.sigmoid`.
#[cfg(feature = "catalogue")]
pub const SIGMOID: Operator = Operator {
    schema: "aten::sigmoid.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::sigmoid",
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
                &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0, -80.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[10],
                &[0.5, 0.5, 0.6791787, 0.18242553, 0.9859364, 0.00012339458, 1.8048513e-35, f64::NAN, 1.0, 0.0],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[7, 1], &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0, -80.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[7, 1],
                &[
                    0.5,
                    0.5,
                    0.679178699175393,
                    0.18242552380635635,
                    0.9859363729567544,
                    0.00012339457598623172,
                    1.8048513878454153e-35,
                ],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[7], &[0.0, -0.0, 0.75, -1.5, 4.25, -9.0, -80.0]))],
            &[CaseTensor::of(
                ScalarType::Half,
                &[7],
                &[0.5, 0.5, 0.6791992, 0.18237305, 0.98583984, 0.00012338161, 0.0],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 3.0, -2.0]))],
            &[CaseTensor::float(&[3], &[0.5, 0.95257413, 0.11920292])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.7310586, 0.5])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Sigmoid, D>(args)
}

struct Sigmoid;

impl Function for Sigmoid {
    fn of<M: Math>(x: M) -> M {
        M::ONE / (M::ONE + (-x).exp())
    }
}
