//! `aten::upsample_bicubic2d`: bicubic resizing of images; each pixel is a weighted sum of sixteen pixels.

use crate::family::opmath::Opmath;
use crate::family::spatial::Volume;
use crate::math::Math;
use crate::prelude::*;
use crate::resizing::resize::{Resize, cubic_weights, number};

/// `torch.nn.functional.interpolate` with mode `bicubic`.
#[cfg(feature = "catalogue")]
pub const UPSAMPLE_BICUBIC2D: Operator = Operator {
    schema: "aten::upsample_bicubic2d.out(Tensor self, SymInt[2] output_size, bool align_corners, \
             float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::upsample_bicubic2d",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "twice as wide, edges on edges",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 3], &[0.0, 4.0, 16.0])),
                Ints(&[1, 6]),
                Bool(false),
                CaseArgument::None,
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[1, 1, 1, 6], &[-0.421_875, 0.484_375, 1.828_125, 7.140_625, 13.421_875, 17.265_625])],
        ),
        Case::near(
            "corners on corners, in double precision",
            1e-12,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 1, 2, 2], &[0.0, 4.0, 8.0, 16.0])),
                Ints(&[3, 2]),
                Bool(true),
                CaseArgument::None,
                CaseArgument::None,
            ],
            &[CaseTensor::of(ScalarType::Double, &[1, 1, 3, 2], &[0.0, 4.0, 4.0, 10.0, 8.0, 16.0])],
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
    dispatch!(D, out.scalar_type(), floats, T => sums::<T>(&resize, [&input, &out], args.bool(2)?))
}

fn sums<T: Opmath>(resize: &Resize, [input, out]: [&et_core::Tensor<'_>; 2], corners: bool) -> Result<()>
where
    T::Math: Math,
{
    let (from, to) = (input.input::<T>()?, out.output::<T>()?);
    let (image, out_image) = (Volume::new(input, 2)?, Volume::new(out, 2)?);
    let (extent, steps) = (image.extent(), resize.steps::<T::Math>(image.extent(), corners));
    out_image.for_each_pixel(|pixel @ [batch, channel, _, row, column]| {
        let start = image.channel(batch, channel);
        let rows = Four::new(row, extent[1], steps[1], corners);
        let columns = Four::new(column, extent[2], steps[2], corners);
        let sum = rows.sum(|row| columns.sum(|column| from.get(start + image.pixel([0, row, column])).raise()));
        to.set(out_image.offset(pixel), T::lower(sum));
    });
    Ok(())
}

/// The four input positions around an output position, within the image, with weights.
struct Four<M> {
    positions: [usize; 4],
    weights: [M; 4],
}

impl<M: Math> Four<M> {
    fn new(at: usize, size: usize, step: M, corners: bool) -> Self {
        let half = M::from_f64(0.5);
        let at = if corners { step * number(at) } else { step * (number::<M>(at) + half) - half };
        let first = at.floor();
        let last = size as i64 - 1;
        let position = |index: usize| (first.to_i64() + index as i64 - 1).clamp(0, last) as usize;
        Self { positions: core::array::from_fn(position), weights: cubic_weights(at - first, -0.75) }
    }

    fn sum(&self, load: impl Fn(usize) -> M) -> M {
        let pairs = self.positions.into_iter().zip(self.weights);
        pairs.fold(M::ZERO, |sum, (position, weight)| sum + load(position) * weight)
    }
}
