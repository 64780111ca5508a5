//! `aten::sinh`: the hyperbolic sine.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.sinh`.
#[cfg(feature = "catalogue")]
pub const SINH: Operator = Operator {
    schema: "aten::sinh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::sinh",
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
                &[0.0, -0.0, 1e-05, -0.75, 1.5, -9.0, 89.25, -100.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[11],
                &[
                    0.0,
                    -0.0,
                    1e-05,
                    -0.8223167,
                    2.1292794,
                    -4051.542,
                    2.8823884e+38,
                    f64::NEG_INFINITY,
                    f64::NAN,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4, 1], &[1e-05, -0.75, 1.5, -9.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4, 1],
                &[1.0000000000166668e-05, -0.82231673193583, 2.1292794550948173, -4051.54190208279],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[4], &[0.0010004044, -0.75, 1.5, -9.0]))],
            &[CaseTensor::of(ScalarType::Half, &[4], &[0.0010004044, -0.8222656, 2.1289062, -4052.0])],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[4], &[0.0009994507, -0.75, 1.5, -9.0]))],
            &[CaseTensor::of(ScalarType::BFloat16, &[4], &[0.0009994507, -0.82421875, 2.125, -4048.0])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 1.0, -1.0]))],
            &[CaseTensor::float(&[3], &[0.0, 1.1752012, -1.1752012])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[1.1752012, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Sinh, D>(args)
}

struct Sinh;

impl Function for Sinh {
    fn of<M: Math>(x: M) -> M {
        x.sinh()
    }
}
