//! `aten::_upsample_bilinear2d_aa`: antialiased bilinear resizing of images; each pixel is a mean of the input pixels
//! that it covers, weighted by proximity.

use crate::prelude::*;
use crate::resizing::covering::{Filter, means};
use crate::resizing::resize::Resize;

/// `torch.nn.functional.interpolate` with mode `bilinear` and antialiasing.
#[cfg(feature = "catalogue")]
pub const UPSAMPLE_BILINEAR2D_AA: Operator = Operator {
    schema: "aten::_upsample_bilinear2d_aa.out(Tensor self, SymInt[2] output_size, bool align_corners, \
             float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::_upsample_bilinear2d_aa",
    path: kernel_path!(out),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "a row of half the size",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 4], &[0.0, 7.0, 14.0, 28.0])),
                Ints(&[1, 2]),
                Bool(false),
                CaseArgument::None,
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[1, 1, 1, 2], &[5.0, 19.0])],
        ),
        Case::near(
            "larger, in double precision",
            1e-12,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 1, 2, 2], &[0.0, 4.0, 8.0, 16.0])),
                Ints(&[2, 4]),
                Bool(false),
                CaseArgument::None,
                CaseArgument::None,
            ],
            &[CaseTensor::of(ScalarType::Double, &[1, 1, 2, 4], &[0.0, 1.0, 3.0, 4.0, 8.0, 10.0, 14.0, 16.0])],
        ),
        Case::refused(
            "an image without a batch",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1], &[1.0])),
                Ints(&[1, 1]),
                Bool(false),
                CaseArgument::None,
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    Resize::plain(args, 2, 3)?.meta(args)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, resize) = (args.tensor(0)?, args.tensor(5)?, Resize::plain(args, 2, 3)?);
    out.resize(&resize.meta(args)?.shape)?;
    dispatch!(D, out.scalar_type(), floats, T => means::<T>(&resize, [&input, &out], args.bool(2)?, Filter::Linear))
}
