//! `aten::upsample_bilinear2d`: bilinear resizing of images; each pixel is a weighted mean of the four nearest pixels.

use crate::prelude::*;
use crate::resizing::resize::{Resize, linear};

/// `torch.nn.functional.interpolate` with mode `bilinear`.
#[cfg(feature = "catalogue")]
pub const UPSAMPLE_BILINEAR2D_VEC: Operator = Operator {
    schema: "aten::upsample_bilinear2d.vec_out(Tensor input, SymInt[]? output_size, bool align_corners, \
             float[]? scale_factors, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::upsample_bilinear2d.vec",
    path: kernel_path!(vec_out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: vec_out::<ALL>,
    cases: &[
        Case::exact(
            "to a size, edges on edges",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 2], &[0.0, 4.0, 8.0, 16.0])),
                Ints(&[2, 4]),
                Bool(false),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[1, 1, 2, 4], &[0.0, 1.0, 3.0, 4.0, 8.0, 10.0, 14.0, 16.0])],
        ),
        Case::exact(
            "by factors, corners on corners",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 1, 2, 2], &[0.0, 4.0, 8.0, 16.0])),
                CaseArgument::None,
                Bool(true),
                Doubles(&[1.5, 1.5]),
            ],
            &[CaseTensor::of(ScalarType::Double, &[1, 1, 3, 3], &[0.0, 2.0, 4.0, 4.0, 7.0, 10.0, 8.0, 12.0, 16.0])],
        ),
        Case::refused(
            "an image without a batch",
            &[Tensor(CaseTensor::float(&[1, 1, 1], &[1.0])), Ints(&[1, 1]), Bool(false), CaseArgument::None],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    Resize::vector(args, 2, 1, 3)?.meta(args)
}

/// The portable kernel for the types in `D`.
pub fn vec_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, resize) = (args.tensor(0)?, args.tensor(4)?, Resize::vector(args, 2, 1, 3)?);
    out.resize(&resize.meta(args)?.shape)?;
    dispatch!(D, out.scalar_type(), floats, T => linear::<T>(&resize, [&input, &out], args.bool(2)?))
}
