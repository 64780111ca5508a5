//! `aten::log_sigmoid`: `ln(1 / (1 + e^-x))`, without overflow.

use core::f64::consts::LN_2;

use crate::family::real::{self, Function};
use crate::family::unary;
use crate::math::Math;
use crate::prelude::*;

/// `torch.nn.functional.logsigmoid`.
#[cfg(feature = "catalogue")]
pub const LOG_SIGMOID: Operator = Operator {
    schema: "aten::log_sigmoid.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::log_sigmoid",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "floats and special values",
            1e-6,
            &[Tensor(CaseTensor::float(
                &[12],
                &[-100.0, -4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
            ))],
            &[CaseTensor::float(
                &[12],
                &[
                    -100.0,
                    -4.01815,
                    -3.0485873,
                    -0.974077,
                    -LN_2,
                    -0.5759394,
                    -0.048587352,
                    -0.0067153485,
                    -8.19401e-40,
                    f64::NAN,
                    0.0,
                    f64::NEG_INFINITY,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(
                ScalarType::Double,
                &[9, 1],
                &[-100.0, -4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0],
            ))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[9, 1],
                &[
                    -100.0,
                    -4.0181499279178094,
                    -3.048587351573742,
                    -0.9740769841801067,
                    -LN_2,
                    -0.5759394198788436,
                    -0.04858735157374206,
                    -0.006715348489118068,
                    -8.194012623990515e-40,
                ],
            )],
        ),
        Case::near(
            "halves are computed as floats",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[9], &[-100.0, -4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0]))],
            &[CaseTensor::of(
                ScalarType::Half,
                &[9],
                &[-100.0, -4.0195312, -3.0488281, -0.9741211, -0.6933594, -0.5761719, -0.048583984, -0.006713867, -0.0],
            )],
        ),
        Case::near(
            "16-bit floats with the exponents of 32-bit ones",
            1e-2,
            &[Tensor(CaseTensor::of(
                ScalarType::BFloat16,
                &[9],
                &[-100.0, -4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0],
            ))],
            &[CaseTensor::of(
                ScalarType::BFloat16,
                &[9],
                &[
                    -100.0,
                    -4.03125,
                    -3.046875,
                    -0.97265625,
                    -0.69140625,
                    -0.57421875,
                    -0.048583984,
                    -0.006713867,
                    -8.2652e-40,
                ],
            )],
        ),
        Case::refused("integers", &[Tensor(CaseTensor::long(&[1], &[1.0]))], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    real::activate::<LogSigmoid, D>(args)
}

struct LogSigmoid;

impl Function for LogSigmoid {
    fn of<M: Math>(x: M) -> M {
        let positive = if x > M::ZERO { M::ZERO } else { x };
        positive - (-x.magnitude()).exp().ln_1p()
    }
}
