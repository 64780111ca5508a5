//! `aten::upsample_trilinear3d`: trilinear resizing of volumes; each element is a weighted mean of its neighbours.

use crate::prelude::*;
use crate::resizing::resize::{Resize, linear};

/// `torch.nn.functional.interpolate` with mode `trilinear`.
#[cfg(feature = "catalogue")]
pub const UPSAMPLE_TRILINEAR3D: Operator = Operator {
    schema: "aten::upsample_trilinear3d.out(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None, float? scales_h=None, \
             float? scales_w=None, *, \
             Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::upsample_trilinear3d",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "edges on edges",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 1, 2], &[0.0, 4.0, 8.0, 16.0])),
                Ints(&[2, 1, 4]),
                Bool(false),
                CaseArgument::None,
                CaseArgument::None,
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[1, 1, 2, 1, 4], &[0.0, 1.0, 3.0, 4.0, 8.0, 10.0, 14.0, 16.0])],
        ),
        Case::exact(
            "corners on corners",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 1, 1, 1, 2], &[0.0, 4.0])),
                Ints(&[1, 1, 3]),
                Bool(true),
                CaseArgument::None,
                CaseArgument::None,
                CaseArgument::None,
            ],
            &[CaseTensor::of(ScalarType::Double, &[1, 1, 1, 1, 3], &[0.0, 2.0, 4.0])],
        ),
        Case::refused(
            "no element left",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 1, 1], &[1.0])),
                Ints(&[1, 1, 0]),
                Bool(false),
                CaseArgument::None,
                CaseArgument::None,
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    Resize::plain(args, 3, 3)?.meta(args)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, resize) = (args.tensor(0)?, args.tensor(6)?, Resize::plain(args, 3, 3)?);
    out.resize(&resize.meta(args)?.shape)?;
    dispatch!(D, out.scalar_type(), floats, T => linear::<T>(&resize, [&input, &out], args.bool(2)?))
}
