//! `aten::_upsample_bilinear2d_aa`: antialiased bilinear resizing of images; each pixel is a mean of the input pixels
//! that it covers, weighted by proximity.

use core::ops::Range;

use crate::family::opmath::Opmath;
use crate::family::resize::{Resize, number};
use crate::family::spatial::Volume;
use crate::math::Math;
use crate::prelude::*;

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
    dispatch!(D, out.scalar_type(), floats, T => means::<T>(&resize, [&input, &out], args.bool(2)?))
}

fn means<T: Opmath>(resize: &Resize, [input, out]: [&et_core::Tensor<'_>; 2], corners: bool) -> Result<()>
where
    T::Math: Math,
{
    let (from, to) = (input.input::<T>()?, out.output::<T>()?);
    let (image, out_image) = (Volume::new(input, 2)?, Volume::new(out, 2)?);
    let (extent, steps) = (image.extent(), resize.steps::<T::Math>(image.extent(), corners));
    out_image.for_each_pixel(|pixel @ [batch, channel, _, row, column]| {
        let start = image.channel(batch, channel);
        let rows = Tent::new(row, extent[1], steps[1]);
        let columns = Tent::new(column, extent[2], steps[2]);
        let mean = rows.mean(|row| columns.mean(|column| from.get(start + image.pixel([0, row, column])).raise()));
        to.set(out_image.offset(pixel), T::lower(mean));
    });
    Ok(())
}

/// The input positions that an output position covers, with weights that fall linearly from the centre.
struct Tent<M> {
    inside: Range<usize>,
    centre: M,
    /// The reciprocal of the half width.
    slope: M,
}

impl<M: Math> Tent<M> {
    fn new(at: usize, size: usize, step: M) -> Self {
        let half = M::from_f64(0.5);
        let width = if step > M::ONE { step } else { M::ONE };
        let centre = step * (number::<M>(at) + half);
        let first = (centre - width + half).to_i64().max(0) as usize;
        let end = ((centre + width + half).to_i64().max(0) as usize).min(size);
        Self { inside: first..end, centre, slope: M::ONE / width }
    }

    fn weight(&self, position: usize) -> M {
        let distance = (number::<M>(position) - self.centre + M::from_f64(0.5)) * self.slope;
        let height = M::ONE - if distance < M::ZERO { distance.negated() } else { distance };
        if height > M::ZERO { height } else { M::ZERO }
    }

    fn mean(&self, load: impl Fn(usize) -> M) -> M {
        let (sum, total) = self.inside.clone().fold((M::ZERO, M::ZERO), |(sum, total), position| {
            let weight = self.weight(position);
            (sum + load(position) * weight, total + weight)
        });
        if total == M::ZERO { M::ZERO } else { sum / total }
    }
}
