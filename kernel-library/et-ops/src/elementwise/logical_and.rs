//! `aten::logical_and`: the logical and of two tensors, broadcast; a number is true if it is not 0.

use crate::elementwise::logical;
use crate::family::binary;
use crate::prelude::*;

/// `torch.logical_and`.
#[cfg(feature = "catalogue")]
pub const LOGICAL_AND: Operator = Operator {
    schema: "aten::logical_and.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::logical_and",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: binary::boolean,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "truth table",
            &[
                Tensor(CaseTensor::bool(&[4], &[1.0, 1.0, 0.0, 0.0])),
                Tensor(CaseTensor::bool(&[4], &[1.0, 0.0, 1.0, 0.0])),
            ],
            &[CaseTensor::bool(&[4], &[1.0, 0.0, 0.0, 0.0])],
        ),
        Case::exact(
            "NaN is true",
            &[Tensor(CaseTensor::float(&[3], &[f64::NAN, 0.0, -0.5])), Tensor(CaseTensor::long(&[2, 1], &[0.0, 3.0]))],
            &[CaseTensor::bool(&[2, 3], &[0.0, 0.0, 0.0, 1.0, 0.0, 1.0])],
        ),
        Case::exact(
            "halves and bytes",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[3], &[0.0, -0.0, 1.0])),
                Tensor(CaseTensor::of(ScalarType::Byte, &[3], &[1.0, 0.0, 7.0])),
            ],
            &[CaseTensor::bool(&[3], &[0.0, 0.0, 1.0])],
        ),
        Case::refused(
            "shapes that do not broadcast",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Tensor(CaseTensor::float(&[3], &[1.0, 2.0, 3.0]))],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    logical::tensors::<D>(args, |left, right| left & right)
}
