//! `aten::full_like`: a tensor of the input's shape, filled with a number. The caller chooses the dtype.

use crate::family::choice;
use crate::family::fill::fill;
use crate::prelude::*;

/// `torch.full_like`.
#[cfg(feature = "catalogue")]
pub const FULL_LIKE: Operator = Operator {
    schema: "aten::full_like.out(Tensor self, Scalar fill_value, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::full_like",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: choice::converted::<3>,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "floats",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 4.0])), Int(7), CaseArgument::None],
            &[CaseTensor::float(&[2, 2], &[7.0; 4])],
        ),
        Case::converting(
            "another type",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Double(2.9), CaseArgument::None],
            &[CaseTensor::of(ScalarType::Int, &[2], &[2.0, 2.0])],
        ),
        Case::exact(
            "not a number",
            &[Tensor(CaseTensor::of(ScalarType::Half, &[1], &[1.0])), Double(f64::NAN), CaseArgument::None],
            &[CaseTensor::of(ScalarType::Half, &[1], &[f64::NAN])],
        ),
        Case::refused(
            "text is no number",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Text("x"), CaseArgument::None],
            Error::InvalidType,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (like, value, out) = (args.tensor(0)?, args.scalar(1)?, args.tensor(3)?);
    fill::<D>(&out, &like.shape(), value)
}
