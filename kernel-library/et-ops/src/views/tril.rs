//! `aten::tril`: matrices with zeros except on and below a diagonal.

use crate::family::unary;
use crate::prelude::*;
use crate::views::triangle;

/// `torch.tril`.
#[cfg(feature = "catalogue")]
pub const TRIL: Operator = Operator {
    schema: "aten::tril.out(Tensor self, SymInt diagonal=0, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::tril",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "the main diagonal",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Int(0)],
            &[CaseTensor::float(&[2, 3], &[1.0, 0.0, 0.0, 4.0, 5.0, 0.0])],
        ),
        Case::exact(
            "a diagonal above, booleans",
            &[
                Tensor(CaseTensor::bool(
                    &[2, 3, 3],
                    &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
                )),
                Int(1),
            ],
            &[CaseTensor::bool(
                &[2, 3, 3],
                &[1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
            )],
        ),
        Case::exact(
            "a diagonal below, not a number",
            &[Tensor(CaseTensor::float(&[2, 2], &[f64::NAN, 1.0, 2.0, f64::INFINITY])), Int(-1)],
            &[CaseTensor::float(&[2, 2], &[0.0, 0.0, 2.0, 0.0])],
        ),
        Case::refused("a vector", &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Int(0)], Error::InvalidArgument),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    triangle::keep::<D>(args, |distance, diagonal| distance <= diagonal)
}
