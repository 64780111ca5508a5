//! `torchvision::roi_align`: the means of samples in the cells of regions of images.

use et_core::Tensor as View;

use crate::family::opmath::Opmath;
use crate::family::spatial::natural;
use crate::math::Math;
use crate::prelude::*;
use crate::resizing::grid_sampler_2d::Outside;
use crate::torchvision::pixels::Pixels;

/// The most samples of a cell along a dimension.
const LARGEST: usize = 1024;

/// `torchvision.ops.roi_align` (He et al. 2017). `rois`, `[regions, 5]`, has the number of the image and the left, upper, right and lower edge
/// of each region. A cell has `sampling_ratio` samples along each dimension, by default as many as its size.
#[cfg(feature = "catalogue")]
pub const ROI_ALIGN: Operator = Operator {
    schema: "torchvision::roi_align.out(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, \
             SymInt pooled_width, int sampling_ratio, bool aligned, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "torchvision::roi_align",
    path: kernel_path!(out),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "as many samples as pixels",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0])),
                Tensor(CaseTensor::float(&[1, 5], &[0.0, 0.0, 0.0, 2.0, 2.0])),
                Double(1.0),
                Int(2),
                Int(1),
                Int(-1),
                Bool(true),
            ],
            &[CaseTensor::float(&[1, 1, 2, 1], &[1.5, 3.5])],
        ),
        Case::near(
            "two images, scaled, in double precision",
            1e-14,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 1, 2, 2], &[0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 5], &[1.0, 0.0, 0.0, 4.0, 4.0])),
                Double(0.25),
                Int(1),
                Int(1),
                Int(1),
                Bool(false),
            ],
            &[CaseTensor::of(ScalarType::Double, &[1, 1, 1, 1], &[2.5])],
        ),
        Case::exact(
            "outside",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[5.0])),
                Tensor(CaseTensor::float(&[1, 5], &[0.0, 9.0, 9.0, 12.0, 12.0])),
                Double(1.0),
                Int(1),
                Int(1),
                Int(2),
                Bool(true),
            ],
            &[CaseTensor::float(&[1, 1, 1, 1], &[0.0])],
        ),
        Case::refused(
            "regions with four numbers",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[5.0])),
                Tensor(CaseTensor::float(&[1, 4], &[0.0; 4])),
                Double(1.0),
                Int(1),
                Int(1),
                Int(2),
                Bool(true),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (input, regions) = (args.tensor(0)?, args.tensor(1)?);
    let (shape, regions_shape) = (input.shape(), regions.shape());
    let ([_, channels, height, width], [count, 5]) = (shape.sizes(), regions_shape.sizes()) else {
        return Err(Error::InvalidArgument);
    };
    if *height == 0 || *width == 0 || input.scalar_type() != regions.scalar_type() {
        return Err(Error::InvalidArgument);
    }
    let pooled = |index| i32::try_from(args.int(index)?).map_err(|_| Error::InvalidArgument);
    Ok(Meta { scalar_type: input.scalar_type(), shape: Shape::new(&[*count, *channels, pooled(3)?, pooled(4)?])? })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(7)?;
    out.resize(&infer(args, 0)?.shape)?;
    dispatch!(D, out.scalar_type(), precise, T => regions::<T>(args, &out))
}

fn regions<T: Opmath<Math = T> + Math>(args: &Args<'_, '_>, out: &View<'_>) -> Result<()> {
    let (input, regions) = (args.tensor(0)?, args.tensor(1)?);
    let pixels = Pixels::<T>::new(&input, Outside::Border)?;
    let (from, [step, edge, ..]) = (regions.input::<T>()?, regions.strides());
    let (to, steps) = (out.output::<T>()?, out.strides());
    for number in 0..out.size(0) {
        let region = [0, 1, 2, 3, 4].map(|index| from.get(number * step + index * edge));
        let image = natural(region[0].to_i64()).ok().filter(|image| *image < input.size(0));
        let cells = Cells::new(region, args)?;
        let image = image.ok_or(Error::InvalidArgument)?;
        for channel in 0..out.size(1) {
            for row in 0..out.size(2) {
                for column in 0..out.size(3) {
                    let at = number * steps[0] + channel * steps[1] + row * steps[2] + column * steps[3];
                    to.set(at, cells.mean(&pixels, [image, channel], [row, column]));
                }
            }
        }
    }
    Ok(())
}

/// The cells of a region, for rows and for columns.
struct Cells<T> {
    start: [T; 2],
    size: [T; 2],
    samples: [usize; 2],
}

impl<T: Opmath<Math = T> + Math> Cells<T> {
    fn new([_, left, upper, right, lower]: [T; 5], args: &Args<'_, '_>) -> Result<Self> {
        let (scale, ratio, aligned) = (T::from_f64(args.scalar(2)?.to_f64()), args.int(5)?, args.bool(6)?);
        let shift = if aligned { T::from_f64(0.5) } else { T::ZERO };
        let place = |edge: T| edge.times(scale).minus(shift);
        let dimension = |low: T, high: T, count: i64| -> Result<(T, T, usize)> {
            let (start, mut extent) = (place(low), place(high).minus(place(low)));
            if !aligned && extent < T::ONE {
                extent = T::ONE;
            }
            let size = extent / T::from_i64(count);
            let samples = if ratio > 0 { ratio } else { size.ceil().to_i64() };
            let samples = usize::try_from(samples.max(0)).ok().filter(|samples| *samples <= LARGEST);
            Ok((start, size, samples.ok_or(Error::InvalidArgument)?))
        };
        let (top, height, rows) = dimension(upper, lower, args.int(3)?)?;
        let (first, width, columns) = dimension(left, right, args.int(4)?)?;
        Ok(Self { start: [top, first], size: [height, width], samples: [rows, columns] })
    }

    fn mean(&self, pixels: &Pixels<'_, T>, plane: [usize; 2], cell: [usize; 2]) -> T {
        let place = |dim: usize, sample: usize| {
            let within = (T::from_i64(sample as i64) + T::from_f64(0.5)) * self.size[dim];
            let cell = T::from_i64(cell[dim] as i64) * self.size[dim];
            self.start[dim] + cell + within / T::from_i64(self.samples[dim] as i64)
        };
        let extent = pixels.extent();
        let inside = |dim: usize, at: T| at >= -T::ONE && at <= T::from_i64(extent[dim] as i64);
        let mut sum = T::ZERO;
        for row in 0..self.samples[0] {
            for column in 0..self.samples[1] {
                let at = [place(0, row), place(1, column)];
                if inside(0, at[0]) && inside(1, at[1]) {
                    sum = sum + pixels.at(plane, at);
                }
            }
        }
        sum / T::from_i64((self.samples[0] * self.samples[1]).max(1) as i64)
    }
}
