//! `aten::logcumsumexp`: the logarithm of cumulative sums of exponentials along a dimension.

use crate::family::unary;
use crate::math::Math;
use crate::prelude::*;
use crate::reductions::scan;

/// `torch.logcumsumexp`.
#[cfg(feature = "catalogue")]
pub const LOGCUMSUMEXP: Operator = Operator {
    schema: "aten::logcumsumexp.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::logcumsumexp",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "rows, far apart",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[2, 3], &[0.0, 1.0, 200.0, f64::NEG_INFINITY, f64::NEG_INFINITY, 3.0])),
                Int(1),
            ],
            &[CaseTensor::float(&[2, 3], &[0.0, 1.313_261_7, 200.0, f64::NEG_INFINITY, f64::NEG_INFINITY, 3.0])],
        ),
        Case::near(
            "columns of doubles",
            1e-12,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[2, 1], &[1.0, 1.0])), Int(0)],
            &[CaseTensor::of(ScalarType::Double, &[2, 1], &[1.0, 1.693_147_180_559_945_3])],
        ),
        Case::refused("beyond the end", &[Tensor(CaseTensor::float(&[1], &[1.0])), Int(1)], Error::InvalidArgument),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, out] = [args.tensor(0)?, args.tensor(2)?];
    scan::run::<f64, D>([&input, &out], args.int(1)?, &|last, element| match last {
        Some(last) => log_of_sum(last, element),
        None => element,
    })
}

fn log_of_sum(left: f64, right: f64) -> f64 {
    let (larger, smaller) = if left > right { (left, right) } else { (right, left) };
    if larger.is_finite() { larger + Math::ln_1p(Math::exp(smaller - larger)) } else { larger + smaller.max(larger) }
}
