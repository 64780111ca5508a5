//! `aten::asinh`: the number whose hyperbolic sine is `x`.

use core::f64::consts::LN_2;

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.asinh`.
#[cfg(feature = "catalogue")]
pub const ASINH: Operator = Operator {
    schema: "aten::asinh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::asinh",
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
                &[0.0, -0.0, 1e-05, -0.75, 1.5, -9.0, 1000.0, 3e+38, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[11],
                &[
                    0.0,
                    -0.0,
                    1e-05,
                    -LN_2,
                    1.1947632,
                    -2.893444,
                    7.6009026,
                    89.28999,
                    f64::NAN,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[5, 1], &[1e-05, -0.75, 1.5, -9.0, 1000.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[5, 1],
                &[9.999999999833334e-06, -LN_2, 1.1947632172871094, -2.8934439858858716, 7.600902709541988],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[5], &[0.0010004044, -0.75, 1.5, -9.0, 1000.0]))],
            &[CaseTensor::of(ScalarType::Half, &[5], &[0.0010004044, -0.6933594, 1.1943359, -2.8925781, 7.6015625])],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[5], &[0.0009994507, -0.75, 1.5, -9.0, 1000.0]))],
            &[CaseTensor::of(ScalarType::BFloat16, &[5], &[0.0009994507, -0.69140625, 1.1953125, -2.890625, 7.59375])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 1.0, -1.0]))],
            &[CaseTensor::float(&[3], &[0.0, 0.8813736, -0.8813736])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.8813736, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Asinh, D>(args)
}

struct Asinh;

impl Function for Asinh {
    fn of<M: Math>(x: M) -> M {
        x.asinh()
    }
}
