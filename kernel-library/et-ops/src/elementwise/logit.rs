//! `aten::logit`: `ln(x / (1 - x))`, with `x` kept between `eps` and `1 - eps` first where `eps` is given.

use crate::family::real::{self, Formula};
use crate::math::Math;
use crate::prelude::*;

/// `torch.logit`. A negative `eps` counts as absent.
#[cfg(feature = "catalogue")]
pub const LOGIT: Operator = Operator {
    schema: "aten::logit.out(Tensor self, float? eps=None, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::logit",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "without a margin",
            1e-6,
            &[Tensor(CaseTensor::float(&[8], &[0.0, 1.0, 0.5, -1.0, 2.0, f64::NAN, 0.25, 0.999])), CaseArgument::None],
            &[CaseTensor::float(
                &[8],
                &[f64::NEG_INFINITY, f64::INFINITY, 0.0, f64::NAN, f64::NAN, f64::NAN, -1.0986123, 6.906768],
            )],
        ),
        Case::near(
            "with a margin",
            1e-6,
            &[Tensor(CaseTensor::float(&[8], &[0.0, 1.0, 0.5, -1.0, 2.0, f64::NAN, 0.25, 0.999])), Double(0.125)],
            &[CaseTensor::float(
                &[8],
                &[-1.9459101, 1.9459101, 0.0, -1.9459101, 1.9459101, f64::NAN, -1.0986123, 1.9459101],
            )],
        ),
        Case::near(
            "doubles",
            1e-13,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[2], &[0.25, 0.75])), Double(1e-09)],
            &[CaseTensor::of(ScalarType::Double, &[2], &[-1.0986122886681098, 1.0986122886681098])],
        ),
        Case::near(
            "halves",
            2e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[3], &[0.0, 0.25, 2.0])), Double(0.125)],
            &[CaseTensor::of(ScalarType::Half, &[3], &[-1.9462891, -1.0986328, 1.9462891])],
        ),
        Case::near(
            "integers become floats",
            1e-6,
            &[Tensor(CaseTensor::of(ScalarType::Int, &[2, 1], &[0.0, 1.0])), Double(0.25)],
            &[CaseTensor::float(&[2, 1], &[-1.0986123, 1.0986123])],
        ),
        Case::near(
            "a margin of 0",
            1e-6,
            &[Tensor(CaseTensor::float(&[2], &[-1.0, 2.0])), Double(0.0)],
            &[CaseTensor::float(&[2], &[f64::NEG_INFINITY, f64::INFINITY])],
        ),
        Case::near(
            "a margin below 0",
            1e-6,
            &[Tensor(CaseTensor::float(&[2], &[-1.0, 0.5])), Double(-1.0)],
            &[CaseTensor::float(&[2], &[f64::NAN, 0.0])],
        ),
        Case::near(
            "a margin beyond the middle",
            1e-6,
            &[Tensor(CaseTensor::float(&[3], &[0.0, 0.5, 1.0])), Double(0.75)],
            &[CaseTensor::float(&[3], &[1.0986123, 1.0986123, -1.0986123])],
        ),
        Case::refused("a number is no tensor", &[Int(3), CaseArgument::None], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let margin = args.optional_scalar(1)?.map(et_core::Scalar::to_f64).filter(|margin| *margin >= 0.0);
    real::map_formula::<_, D>(&args.tensor(0)?, &args.tensor(2)?, &Logit { margin })
}

struct Logit {
    margin: Option<f64>,
}

impl Formula for Logit {
    fn at<M: Math>(&self, x: M) -> M {
        let x = self.margin.map_or(x, |margin| inside(x, M::from_f64(margin)));
        (x / (M::ONE - x)).ln()
    }
}

fn inside<M: Math>(x: M, margin: M) -> M {
    let high = M::ONE - margin;
    if x < margin {
        margin
    } else if x > high {
        high
    } else {
        x
    }
}
