//! `torchvision::deform_conv2d`: convolutions of images whose kernels read pixels at positions that a tensor moves.

use et_core::{Input, Tensor as View};

use crate::family::opmath::Opmath;
use crate::family::spatial::{Axis, Volume, natural};
use crate::math::Math;
use crate::prelude::*;
use crate::resizing::grid_sampler_2d::Outside;
use crate::torchvision::pixels::Pixels;

/// `torchvision.ops.deform_conv2d` (Dai et al. 2017, Zhu et al. 2018). `offset`, `[batch, offset_groups * taps * 2, rows, columns]`, moves the row and the
/// column that each tap of the kernel reads; `mask`, `[batch, offset_groups * taps, rows, columns]`, has a factor for each if `use_mask` is true.
#[cfg(feature = "catalogue")]
pub const DEFORM_CONV2D: Operator = Operator {
    schema: "torchvision::deform_conv2d.out(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, \
             SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, \
             SymInt groups, SymInt offset_groups, bool use_mask, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "torchvision::deform_conv2d",
    path: kernel_path!(out),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "half a pixel down and a factor",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0])),
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[2.0])),
                Tensor(CaseTensor::float(&[1, 2, 2, 2], &[0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, -1.0])),
                Tensor(CaseTensor::float(&[1, 1, 2, 2], &[1.0, 0.5, 1.0, 1.0])),
                Tensor(CaseTensor::float(&[1], &[10.0])),
                Int(1),
                Int(1),
                Int(0),
                Int(0),
                Int(1),
                Int(1),
                Int(1),
                Int(1),
                Bool(true),
            ],
            &[CaseTensor::float(&[1, 1, 2, 2], &[14.0, 13.0, 13.0, 16.0])],
        ),
        Case::exact(
            "groups, strides and padding in double precision",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 2, 1, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 1, 1, 2], &[1.0, 10.0, 100.0, 1000.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 4, 1, 2], &[0.0; 8])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 1], &[0.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2], &[0.0, 0.0])),
                Int(1),
                Int(2),
                Int(0),
                Int(1),
                Int(1),
                Int(1),
                Int(2),
                Int(1),
                Bool(false),
            ],
            &[CaseTensor::of(ScalarType::Double, &[1, 2, 1, 2], &[10.0, 32.0, 4000.0, 6500.0])],
        ),
        Case::refused(
            "offsets of another number of taps",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[1.0])),
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[2.0])),
                Tensor(CaseTensor::float(&[1, 4, 1, 1], &[0.0; 4])),
                Tensor(CaseTensor::float(&[1, 1], &[0.0])),
                Tensor(CaseTensor::float(&[1], &[0.0])),
                Int(1),
                Int(1),
                Int(0),
                Int(0),
                Int(1),
                Int(1),
                Int(1),
                Int(1),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// The sizes of a convolution.
struct Geometry {
    axes: [Axis; 2],
    /// Channels of the input and of the output, divided by groups.
    channels: [usize; 2],
    groups: usize,
    offset_groups: usize,
    outputs: [usize; 2],
}

impl Geometry {
    fn new(args: &Args<'_, '_>) -> Result<Self> {
        let (input, weight) = (Volume::new(&args.tensor(0)?, 2)?, Volume::new(&args.tensor(1)?, 2)?);
        let number = |index: usize| natural(args.int(index)?);
        let axis = |dim: usize| {
            Axis::new(
                input.sizes[3 + dim],
                [weight.sizes[3 + dim], number(5 + dim)?, number(7 + dim)?, number(9 + dim)?],
            )
        };
        let (axes, groups, offset_groups) = ([axis(0)?, axis(1)?], number(11)?, number(12)?);
        let [all, made] = [input.sizes[1], weight.sizes[0]];
        let divides = |count: usize, by: usize| by > 0 && count.is_multiple_of(by);
        let fits = divides(all, groups) && divides(made, groups) && divides(all, offset_groups);
        if !fits || all / groups != weight.sizes[1] {
            return Err(Error::InvalidArgument);
        }
        let outputs = [axes[0].outputs(0)?, axes[1].outputs(0)?];
        let geometry = Self { axes, channels: [all / groups, made / groups], groups, offset_groups, outputs };
        geometry.check(args, input.sizes[0], made)?;
        Ok(geometry)
    }

    /// Checks the offsets, the factors and the bias.
    fn check(&self, args: &Args<'_, '_>, batch: usize, made: usize) -> Result<()> {
        let taps = self.taps().checked_mul(self.offset_groups).ok_or(Error::InvalidArgument)?;
        let is_map = |index: usize, count: Option<usize>| -> Result<bool> {
            let map = Volume::new(&args.tensor(index)?, 2)?;
            let [own, channels, _, rows, columns] = map.sizes;
            Ok(args.tensor(index)?.rank() == 4
                && Some(channels) == count
                && [own, rows, columns] == [batch, self.outputs[0], self.outputs[1]])
        };
        let moved = is_map(2, taps.checked_mul(2))?;
        let weighted = !args.bool(13)? || is_map(3, Some(taps))?;
        let (first, rank) = (args.tensor(0)?, |index: usize| Ok::<_, Error>(args.tensor(index)?.rank()));
        for index in 1..5 {
            if args.tensor(index)?.scalar_type() != first.scalar_type() {
                return Err(Error::InvalidType);
            }
        }
        let biased = rank(4)? == 1 && args.tensor(4)?.size(0) == made;
        if moved && weighted && biased && rank(0)? == 4 && rank(1)? == 4 { Ok(()) } else { Err(Error::InvalidArgument) }
    }

    const fn taps(&self) -> usize {
        self.axes[0].kernel * self.axes[1].kernel
    }
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let geometry = Geometry::new(args)?;
    let input = args.tensor(0)?;
    let sizes = [input.size(0), args.tensor(1)?.size(0), geometry.outputs[0], geometry.outputs[1]];
    Ok(Meta { scalar_type: input.scalar_type(), shape: Shape::new(&sizes.map(|size| size as i32))? })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(14)?;
    out.resize(&infer(args, 0)?.shape)?;
    dispatch!(D, out.scalar_type(), precise, T => convolve::<T>(args, &out))
}

fn convolve<T: Opmath<Math = T> + Math>(args: &Args<'_, '_>, out: &View<'_>) -> Result<()> {
    let geometry = Geometry::new(args)?;
    let (input, bias) = (args.tensor(0)?, args.tensor(4)?);
    let pixels = Pixels::<T>::new(&input, Outside::Zeros)?;
    let offsets = Map::<T>::of(&args.tensor(2)?)?;
    let factors = if args.bool(13)? { Some(Map::<T>::of(&args.tensor(3)?)?) } else { None };
    let (weights, bias, bias_step) = (Map::<T>::of(&args.tensor(1)?)?, bias.input::<T>()?, bias.strides()[0]);
    let (to, image) = (out.output::<T>()?, Volume::new(out, 2)?);
    image.for_each_pixel(|pixel| to.set(image.offset(pixel), bias.get(pixel[1] * bias_step)));
    let [depth, made] = geometry.channels;
    let per_offset = input.size(1) / geometry.offset_groups;
    for batch in 0..out.size(0) {
        for row in 0..geometry.outputs[0] {
            for column in 0..geometry.outputs[1] {
                for channel in 0..depth * geometry.groups {
                    let first = channel / per_offset * geometry.taps();
                    for tap in 0..geometry.taps() {
                        let at = [batch, first + tap, row, column];
                        let position = geometry.position(&offsets, at, tap);
                        let factor = factors.as_ref().map_or(T::ONE, |factors| factors.get(at));
                        let sample = pixels.at([batch, channel], position) * factor;
                        let group = channel / depth;
                        let kernel = [tap / geometry.axes[1].kernel, tap % geometry.axes[1].kernel];
                        for output in group * made..(group + 1) * made {
                            let at = image.offset([batch, output, 0, row, column]);
                            let weight = weights.get([output, channel % depth, kernel[0], kernel[1]]);
                            to.set(at, to.get(at) + weight * sample);
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

impl Geometry {
    /// The row and the column that a tap reads.
    fn position<T: Opmath<Math = T> + Math>(
        &self,
        offsets: &Map<'_, T>,
        [batch, moved, row, column]: [usize; 4],
        tap: usize,
    ) -> [T; 2] {
        let taps = [tap / self.axes[1].kernel, tap % self.axes[1].kernel];
        let output = [row, column];
        [0, 1].map(|dim| {
            let axis = &self.axes[dim];
            let still = output[dim] * axis.stride.get() + taps[dim] * axis.dilation.get();
            T::from_i64(still as i64 - axis.padding as i64) + offsets.get([batch, 2 * moved + dim, row, column])
        })
    }
}

/// A tensor of rank 4.
struct Map<'a, T> {
    elements: Input<'a, T>,
    steps: [usize; 4],
}

impl<'a, T: Opmath> Map<'a, T> {
    fn of(tensor: &View<'a>) -> Result<Self> {
        let [batch, channel, row, column, ..] = tensor.strides();
        Ok(Self { elements: tensor.input()?, steps: [batch, channel, row, column] })
    }

    fn get(&self, at: [usize; 4]) -> T {
        self.elements.get(at.iter().zip(self.steps).map(|(index, step)| index * step).sum())
    }
}
