//! `aten::_upsample_bicubic2d_aa`: antialiased bicubic resizing of images; each pixel is a mean of the input pixels
//! that it covers, weighted by the cubic convolution.

use crate::prelude::*;
use crate::resizing::covering::{Filter, means};
use crate::resizing::resize::Resize;

/// `torch.nn.functional.interpolate` with mode `bicubic` and antialiasing.
#[cfg(feature = "catalogue")]
pub const UPSAMPLE_BICUBIC2D_AA: Operator = Operator {
    schema: "aten::_upsample_bicubic2d_aa.out(Tensor self, SymInt[2] output_size, bool align_corners, \
             float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::_upsample_bicubic2d_aa",
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
            &[CaseTensor::float(&[1, 1, 1, 2], &[3.847_107_4, 20.103_306])],
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
            &[CaseTensor::of(
                ScalarType::Double,
                &[1, 1, 2, 4],
                &[
                    -0.352_941_176_470_588_26,
                    0.828_571_428_571_428_6,
                    3.171_428_571_428_571_3,
                    4.352_941_176_470_588,
                    7.294_117_647_058_822_5,
                    9.657_142_857_142_857,
                    14.342_857_142_857_142,
                    16.705_882_352_941_174,
                ],
            )],
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
    dispatch!(D, out.scalar_type(), floats, T => means::<T>(&resize, [&input, &out], args.bool(2)?, Filter::Cubic))
}
