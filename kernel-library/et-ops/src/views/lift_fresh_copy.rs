//! `aten::lift_fresh_copy`: a copy.

use crate::family::{copy, unary};
use crate::prelude::*;

/// A copy; capture inserts this operator around tensor constants.
#[cfg(feature = "catalogue")]
pub const LIFT_FRESH_COPY: Operator = Operator {
    schema: "aten::lift_fresh_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::lift_fresh_copy",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "floats",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.5, -0.0, f64::NAN, f64::INFINITY]))],
            &[CaseTensor::float(&[2, 2], &[1.5, -0.0, f64::NAN, f64::INFINITY])],
        ),
        Case::exact("integers of rank 0", &[Tensor(CaseTensor::long(&[], &[7.0]))], &[CaseTensor::long(&[], &[7.0])]),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    copy::first_to::<D>(args, 1)
}
