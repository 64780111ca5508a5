//! `aten::cummin`: the least element so far along a dimension, and its index. NaN is least.

use crate::prelude::*;
use crate::reductions::scan;

/// `torch.cummin`. Of equal elements, the last counts.
#[cfg(feature = "catalogue")]
pub const CUMMIN: Operator = Operator {
    schema: "aten::cummin.out(Tensor self, int dim, *, Tensor(a!) values, Tensor(b!) indices) -> \
             (Tensor(a!) values, Tensor(b!) indices)",
    functional: "aten::cummin",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: scan::values_and_indices,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rows with equals and NaN",
            &[Tensor(CaseTensor::float(&[2, 4], &[4.0, 3.0, 3.0, 5.0, 5.0, f64::NAN, 7.0, 1.0])), Int(-1)],
            &[
                CaseTensor::float(&[2, 4], &[4.0, 3.0, 3.0, 3.0, 5.0, f64::NAN, f64::NAN, f64::NAN]),
                CaseTensor::long(&[2, 4], &[0.0, 1.0, 2.0, 2.0, 0.0, 1.0, 1.0, 1.0]),
            ],
        ),
        Case::exact(
            "a number",
            &[Tensor(CaseTensor::long(&[], &[5.0])), Int(0)],
            &[CaseTensor::long(&[], &[5.0]), CaseTensor::long(&[], &[0.0])],
        ),
        Case::refused(
            "a dimension that is not there",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Int(1)],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel for input dtypes `D`; indices are `int64` regardless of `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    scan::extrema::<D>(args, |element, held| element <= held, |element, held| element <= held)
}
