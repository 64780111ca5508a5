//! `aten::log`: the natural logarithm.

use crate::family::real::{self, Function};
use crate::math::Math;
use crate::prelude::*;

/// `torch.log`.
#[cfg(feature = "catalogue")]
pub const LOG: Operator = Operator {
    schema: "aten::log.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::log",
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
                &[0.0, -1.0, 0.75, 1.5, 42.5, 0.001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[9],
                &[
                    f64::NEG_INFINITY,
                    f64::NAN,
                    -0.28768206,
                    0.40546513,
                    3.749504,
                    -6.9077554,
                    f64::NAN,
                    f64::INFINITY,
                    f64::NAN,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.0, -1.0, 0.75, 1.5, 42.5, 0.001]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[6, 1],
                &[
                    f64::NEG_INFINITY,
                    f64::NAN,
                    -0.2876820724517809,
                    0.4054651081081644,
                    3.7495040759303713,
                    -6.907755278982137,
                ],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[6], &[0.0, -1.0, 0.75, 1.5, 42.5, 0.0010004044]))],
            &[CaseTensor::of(
                ScalarType::Half,
                &[6],
                &[f64::NEG_INFINITY, f64::NAN, -0.28759766, 0.40551758, 3.75, -6.90625],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::long(&[3], &[0.0, 1.0, 7.0]))],
            &[CaseTensor::float(&[3], &[f64::NEG_INFINITY, 0.0, 1.9459102])],
        ),
        Case::near(
            "booleans become floats",
            1e-6,
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.0, f64::NEG_INFINITY])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::map::<Log, D>(args)
}

struct Log;

impl Function for Log {
    fn of<M: Math>(x: M) -> M {
        x.ln()
    }
}
