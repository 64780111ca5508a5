//! `aten::clone`: a copy.

use crate::family::{copy, unary};
use crate::prelude::*;

/// `torch.clone`.
#[cfg(feature = "catalogue")]
pub const CLONE: Operator = Operator {
    schema: "aten::clone.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::clone",
    path: kernel_path!(out),
    dtypes: Dtypes::STORED,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "complex numbers",
            &[Tensor(CaseTensor::of(ScalarType::ComplexFloat, &[2], &[1.0, 2.0, 3.0, -4.0])), CaseArgument::None],
            &[CaseTensor::of(ScalarType::ComplexFloat, &[2], &[1.0, 2.0, 3.0, -4.0])],
        ),
        Case::exact(
            "floats",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.5, -0.0, f64::NAN, f64::INFINITY])), CaseArgument::None],
            &[CaseTensor::float(&[2, 2], &[1.5, -0.0, f64::NAN, f64::INFINITY])],
        ),
        Case::exact(
            "booleans of rank 0",
            &[Tensor(CaseTensor::bool(&[], &[1.0])), CaseArgument::None],
            &[CaseTensor::bool(&[], &[1.0])],
        ),
        Case::exact(
            "an empty tensor",
            &[Tensor(CaseTensor::float(&[0, 3], &[])), CaseArgument::None],
            &[CaseTensor::float(&[0, 3], &[])],
        ),
        Case::refused("a number is no tensor", &[Int(3), CaseArgument::None], Error::InvalidType),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    copy::first_to::<D>(args, 2)
}
