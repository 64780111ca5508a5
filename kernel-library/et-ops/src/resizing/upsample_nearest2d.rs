//! `aten::upsample_nearest2d`: images in another size, each pixel copied from the nearest.

use crate::prelude::*;
use crate::resizing::resize::{Resize, nearest};

/// `torch.nn.functional.interpolate` with mode `nearest` of images.
#[cfg(feature = "catalogue")]
pub const UPSAMPLE_NEAREST2D_VEC: Operator = Operator {
    schema: "aten::upsample_nearest2d.vec_out(Tensor input, SymInt[]? output_size, float[]? scale_factors, *, \
             Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::upsample_nearest2d.vec",
    path: kernel_path!(vec_out),
    dtypes: Dtypes::NUMBERS,
    infer,
    kernel: vec_out::<ALL>,
    cases: &[
        Case::exact(
            "to a size",
            &[Tensor(CaseTensor::float(&[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0])), Ints(&[3, 4]), CaseArgument::None],
            &[CaseTensor::float(&[1, 1, 3, 4], &[1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0])],
        ),
        Case::exact(
            "by factors, one below 1",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[1, 2, 1, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                CaseArgument::None,
                Doubles(&[2.0, 0.7]),
            ],
            &[CaseTensor::of(ScalarType::Byte, &[1, 2, 2, 2], &[1.0, 2.0, 1.0, 2.0, 4.0, 5.0, 4.0, 5.0])],
        ),
        Case::refused(
            "neither a size nor factors",
            &[Tensor(CaseTensor::float(&[1, 1, 1, 1], &[1.0])), CaseArgument::None, CaseArgument::None],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    Resize::vector(args, 2, 1, 2)?.meta(args)
}

/// The portable kernel for the types in `D`.
pub fn vec_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, resize) = (args.tensor(0)?, args.tensor(3)?, Resize::vector(args, 2, 1, 2)?);
    out.resize(&resize.meta(args)?.shape)?;
    dispatch!(D, out.scalar_type(), numbers, T => nearest::<T>(&resize, &input, &out))
}
