//! `aten::scalar_tensor`: a number as a tensor of rank 0. The caller chooses the dtype.

use crate::family::choice;
use crate::family::fill::fill;
use crate::prelude::*;

/// `torch.scalar_tensor`.
#[cfg(feature = "catalogue")]
pub const SCALAR_TENSOR: Operator = Operator {
    schema: "aten::scalar_tensor.out(Scalar s, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::scalar_tensor",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: rule,
    kernel: out::<ALL>,
    cases: &[
        Case::exact("a fraction", &[Double(0.5)], &[CaseTensor::float(&[], &[0.5])]),
        Case::exact("an integer", &[Int(7)], &[CaseTensor::float(&[], &[7.0])]),
        Case::converting("a fraction to an integer", &[Double(-2.5)], &[CaseTensor::of(ScalarType::Int, &[], &[-2.0])]),
        Case::refused("nothing is no number", &[CaseArgument::None], Error::InvalidType),
    ],
};

/// `float32`, whatever the number, unless the caller wants a different dtype.
fn rule(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    args.scalar(0)?;
    Ok(Meta { scalar_type: choice::scalar_type(args, 1, ScalarType::Float)?, shape: Shape::SCALAR })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    fill::<D>(&args.tensor(1)?, &Shape::SCALAR, args.scalar(0)?)
}
