//! `aten::hardtanh`: clamps each element to two bounds, in the dtype of the input.

use crate::family::bound::{bound, bounds};
use crate::family::unary;
use crate::prelude::*;

/// `torch.nn.functional.hardtanh`.
#[cfg(feature = "catalogue")]
pub const HARDTANH: Operator = Operator {
    schema: "aten::hardtanh.out(Tensor self, Scalar min_val=-1, Scalar max_val=1, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::hardtanh",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "default bounds",
            &[Tensor(CaseTensor::float(&[2, 2], &[-2.0, 0.5, 3.0, f64::NAN])), Int(-1), Int(1)],
            &[CaseTensor::float(&[2, 2], &[-1.0, 0.5, 1.0, f64::NAN])],
        ),
        Case::exact(
            "six",
            &[Tensor(CaseTensor::of(ScalarType::BFloat16, &[3], &[-1.0, 3.0, 7.0])), Double(0.0), Double(6.0)],
            &[CaseTensor::of(ScalarType::BFloat16, &[3], &[0.0, 3.0, 6.0])],
        ),
        Case::exact(
            "bounds are cut to integers",
            &[Tensor(CaseTensor::long(&[3], &[1.0, 5.0, -7.0])), Double(-2.5), Double(2.5)],
            &[CaseTensor::long(&[3], &[1.0, 2.0, -2.0])],
        ),
        Case::refused("booleans", &[Tensor(CaseTensor::bool(&[1], &[1.0])), Int(-1), Int(1)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, low, high, out) = (args.tensor(0)?, args.scalar(1)?, args.scalar(2)?, args.tensor(3)?);
    dispatch!(D, input.scalar_type(), numbers, T => {
        let bounds = bounds::<T>(Some(low), Some(high))?;
        unary::map(&input, &out, |element: T| bound(element, bounds))
    })
}
