//! `aten::reflection_pad3d`: reflection padding of volumes. Pairs of widths start at the innermost dimension; negative
//! widths crop.

use crate::prelude::*;
use crate::views::margin::{self, Margin};

/// `torch.nn.functional.pad` with mode `reflect` of 3 dimensions.
#[cfg(feature = "catalogue")]
pub const REFLECTION_PAD3D: Operator = Operator {
    schema: "aten::reflection_pad3d.out(Tensor self, SymInt[6] padding, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::reflection_pad3d",
    path: kernel_path!(out),
    dtypes: Dtypes::STORED,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "margins of different widths",
            &[Tensor(CaseTensor::float(&[1, 1, 2, 1, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Ints(&[2, 0, 0, 0, 1, 1])],
            &[CaseTensor::float(
                &[1, 1, 4, 1, 5],
                &[6.0, 5.0, 4.0, 5.0, 6.0, 3.0, 2.0, 1.0, 2.0, 3.0, 6.0, 5.0, 4.0, 5.0, 6.0, 3.0, 2.0, 1.0, 2.0, 3.0],
            )],
        ),
        Case::exact(
            "cropped at the start, in double precision",
            &[Tensor(CaseTensor::of(ScalarType::Double, &[1, 1, 1, 3], &[4.0, 5.0, 6.0])), Ints(&[-1, 1, 0, 0, 0, 0])],
            &[CaseTensor::of(ScalarType::Double, &[1, 1, 1, 3], &[5.0, 6.0, 5.0])],
        ),
        Case::refused(
            "a margin as wide as the image",
            &[Tensor(CaseTensor::float(&[1, 1, 1, 2], &[1.0, 2.0])), Ints(&[2, 0, 0, 0, 0, 0])],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    margin::meta(args, Margin::Reflection, 3)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    margin::pad::<D>(args, Margin::Reflection, 3)
}
