//! `et_copy::_d2h_copy`: a copy from device memory to host memory; here both are host memory.

use crate::family::{copy, unary};
use crate::prelude::*;

/// Copies from device memory to host memory.
#[cfg(feature = "catalogue")]
pub const D2H_COPY: Operator = Operator {
    schema: "et_copy::_d2h_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "et_copy::_d2h_copy",
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
