//! `aten::softplus`: `ln(1 + e^(beta x)) / beta`, and `x` itself where `beta x` passes `threshold`.

use core::f64::consts::LN_2;

use et_core::Scalar;

use crate::family::real::{self, Formula};
use crate::family::unary;
use crate::math::Math;
use crate::prelude::*;

/// `torch.nn.functional.softplus`.
#[cfg(feature = "catalogue")]
pub const SOFTPLUS: Operator = Operator {
    schema: "aten::softplus.out(Tensor self, Scalar beta=1, Scalar threshold=20, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::softplus",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "defaults",
            1e-6,
            &[
                Tensor(CaseTensor::float(
                    &[12],
                    &[-100.0, -4.0, -3.0, -0.5, 0.0, 0.25, 3.0, 5.0, 90.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
                )),
                Int(1),
                Int(20),
            ],
            &[CaseTensor::float(
                &[12],
                &[
                    3.8e-44,
                    0.01814993,
                    0.048587352,
                    0.474077,
                    LN_2,
                    0.8259394,
                    3.0485873,
                    5.0067153,
                    90.0,
                    f64::NAN,
                    f64::INFINITY,
                    0.0,
                ],
            )],
        ),
        Case::near(
            "all parameters",
            1e-6,
            &[Tensor(CaseTensor::float(&[2, 2], &[-1.0, 0.5, 1.0, 9.0])), Double(0.5), Double(1.0)],
            &[CaseTensor::float(&[2, 2], &[0.948154, 1.6518788, 1.948154, 9.0])],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[2], &[-3.0, 0.25])), Int(2), Double(20.0)],
            &[CaseTensor::of(ScalarType::Double, &[2], &[0.0012378425688652247, 0.48703849209005334])],
        ),
        Case::near(
            "halves",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[3], &[-3.0, 0.25, 21.0])), Int(1), Int(20)],
            &[CaseTensor::of(ScalarType::Half, &[3], &[0.048583984, 0.8261719, 21.0])],
        ),
        Case::exact(
            "a flat one",
            &[Tensor(CaseTensor::float(&[2], &[-1.0, 1.0])), Int(0), Int(20)],
            &[CaseTensor::float(&[2], &[f64::INFINITY, f64::INFINITY])],
        ),
        Case::refused("integers", &[Tensor(CaseTensor::long(&[1], &[1.0])), Int(1), Int(20)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let formula = Softplus { beta: args.scalar(1)?, threshold: args.scalar(2)? };
    real::map_floats::<_, D>(&args.tensor(0)?, &args.tensor(3)?, &formula)
}

struct Softplus {
    beta: Scalar,
    threshold: Scalar,
}

impl Formula for Softplus {
    fn at<M: Math>(&self, x: M) -> M {
        let beta = self.beta.cast::<M>();
        let scaled = x * beta;
        if scaled > self.threshold.cast() { x } else { scaled.exp().ln_1p() / beta }
    }
}
