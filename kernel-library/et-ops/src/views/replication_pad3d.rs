//! `aten::replication_pad3d`: replication padding of volumes. Pairs of widths start at the innermost dimension;
//! negative widths crop.

use crate::prelude::*;
use crate::views::margin::{self, Margin};

/// `torch.nn.functional.pad` with mode `replicate` of 3 dimensions.
#[cfg(feature = "catalogue")]
pub const REPLICATION_PAD3D: Operator = Operator {
    schema: "aten::replication_pad3d.out(Tensor self, SymInt[6] padding, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::replication_pad3d",
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
                &[1.0, 1.0, 1.0, 2.0, 3.0, 1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 4.0, 4.0, 5.0, 6.0, 4.0, 4.0, 4.0, 5.0, 6.0],
            )],
        ),
        Case::exact(
            "cropped at the start, in double precision",
            &[Tensor(CaseTensor::of(ScalarType::Double, &[1, 1, 1, 3], &[4.0, 5.0, 6.0])), Ints(&[-1, 2, 0, 0, 0, 0])],
            &[CaseTensor::of(ScalarType::Double, &[1, 1, 1, 4], &[5.0, 6.0, 6.0, 6.0])],
        ),
        Case::refused(
            "nothing to repeat",
            &[Tensor(CaseTensor::float(&[1, 1, 1, 0], &[])), Ints(&[1, 0, 0, 0, 0, 0])],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    margin::meta(args, Margin::Replication, 3)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    margin::pad::<D>(args, Margin::Replication, 3)
}
