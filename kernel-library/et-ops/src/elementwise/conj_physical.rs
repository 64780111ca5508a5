//! `aten::_conj_physical`: complex numbers with the opposite imaginary parts.

use et_core::Complex;

use crate::family::unary;
use crate::prelude::*;

/// `torch.conj_physical`.
#[cfg(feature = "catalogue")]
pub const CONJ_PHYSICAL: Operator = Operator {
    schema: "aten::_conj_physical.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::_conj_physical",
    path: kernel_path!(out),
    dtypes: Dtypes::COMPLEX,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "two numbers",
            &[Tensor(CaseTensor::of(ScalarType::ComplexFloat, &[2], &[1.0, 2.0, 3.0, -4.0]))],
            &[CaseTensor::of(ScalarType::ComplexFloat, &[2], &[1.0, -2.0, 3.0, 4.0])],
        ),
        Case::exact(
            "double precision",
            &[Tensor(CaseTensor::of(ScalarType::ComplexDouble, &[1, 1], &[0.5, f64::INFINITY]))],
            &[CaseTensor::of(ScalarType::ComplexDouble, &[1, 1], &[0.5, f64::NEG_INFINITY])],
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(1)?);
    dispatch!(D, out.scalar_type(), complex, P => unary::map(&input, &out, Complex::<P>::conjugate))
}
