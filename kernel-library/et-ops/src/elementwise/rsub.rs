//! `aten::rsub`: `other - alpha * self`, promoted. Booleans have no difference.

use et_core::Scalar;

use crate::elementwise::scaled::check_factor;
use crate::family::opmath::Opmath;
use crate::family::{binary, unary};
use crate::prelude::*;

/// `torch.rsub` of a tensor and a number.
#[cfg(feature = "catalogue")]
pub const RSUB_SCALAR: Operator = Operator {
    schema: "aten::rsub.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::rsub.Scalar",
    path: kernel_path!(scalar_out),
    dtypes: Dtypes::NUMBERS,
    infer: binary::promoted_with_scalar,
    kernel: scalar_out::<ALL>,
    cases: &[
        Case::exact(
            "one minus a tensor",
            &[Tensor(CaseTensor::float(&[2, 2], &[0.25, f64::NAN, f64::NEG_INFINITY, 1.0])), Int(1), Int(1)],
            &[CaseTensor::float(&[2, 2], &[0.75, f64::NAN, f64::INFINITY, 0.0])],
        ),
        Case::exact(
            "alpha belongs to the tensor",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), Int(10), Int(3)],
            &[CaseTensor::long(&[2], &[7.0, 4.0])],
        ),
        Case::exact(
            "a fraction turns integers into floats",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[1], &[1.0])), Double(2.5), Int(1)],
            &[CaseTensor::float(&[1], &[1.5])],
        ),
        Case::refused(
            "a fraction of an integer",
            &[Tensor(CaseTensor::long(&[1], &[3.0])), Int(5), Double(0.5)],
            Error::InvalidArgument,
        ),
        Case::refused(
            "a tensor of booleans",
            &[Tensor(CaseTensor::bool(&[1], &[1.0])), Int(1), Int(1)],
            Error::InvalidType,
        ),
    ],
};

/// The portable kernel of a tensor and a number for the types in `D`.
pub fn scalar_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, other, alpha, out) = (args.tensor(0)?, args.scalar(1)?, args.scalar(2)?, args.tensor(3)?);
    if input.scalar_type() == ScalarType::Bool || matches!(other, Scalar::Bool(_)) {
        return Err(Error::InvalidType);
    }
    let common = other.promote(input.scalar_type());
    check_factor(common, alpha)?;
    dispatch!(D, common, numbers, T => {
        let (minuend, factor) = (other.cast::<<T as Opmath>::Math>(), alpha.cast());
        unary::convert::<T, T, D>(&input, &out, |element| T::lower(minuend.minus(element.raise().times(factor))))
    })
}
