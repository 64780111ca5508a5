//! `aten::convolution`: convolution (cross-correlation) over one to three dimensions, or transposed convolution.
//!
//! `input` is `[n, c, d, h, w]` (or `[n, c, h, w]`, or `[n, c, l]`), `weight` is
//! `[out channels, c / groups, kernel..]`; for a transposed convolution, `[c, out channels / groups, kernel..]`.
//! Products are summed over channels, planes, rows, then columns; the bias is added last.

use core::num::NonZero;

use et_core::{Input, Output};

use crate::convolutions::picture::Picture;
use crate::convolutions::tiled_convolution::Tiled;
use crate::family::contract::{Run, dot};
use crate::family::opmath::Opmath;
use crate::family::spatial::{Axis, Volume, axes, natural, per_dim_argument, push};
use crate::prelude::*;
use crate::simd::HOSTED;

/// `torch.ops.aten.convolution`.
#[cfg(feature = "catalogue")]
pub const CONVOLUTION: Operator = Operator {
    schema: "aten::convolution.out(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, \
             SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::convolution",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "integers",
            &[
                Tensor(CaseTensor::long(&[1, 1, 4], &[1.0, 2.0, -3.0, 4.0])),
                Tensor(CaseTensor::long(&[1, 1, 2], &[2.0, 1.0])),
                Tensor(CaseTensor::long(&[1], &[10.0])),
                Ints(&[1]),
                Ints(&[0]),
                Ints(&[1]),
                Bool(false),
                Ints(&[0]),
                Int(1),
            ],
            &[CaseTensor::long(&[1, 1, 3], &[14.0, 11.0, 8.0])],
        ),
        Case::exact(
            "padding, stride and bias",
            &[
                Tensor(CaseTensor::float(&[1, 1, 3, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])),
                Tensor(CaseTensor::float(&[2, 1, 2, 2], &[1.0, 0.0, 0.0, -1.0, 0.5, 0.5, 0.5, 0.5])),
                Tensor(CaseTensor::float(&[2], &[0.25, -1.0])),
                Ints(&[2, 2]),
                Ints(&[1, 1]),
                Ints(&[1, 1]),
                Bool(false),
                Ints(&[0, 0]),
                Int(1),
            ],
            &[CaseTensor::float(&[1, 2, 2, 2], &[-0.75, -2.75, -6.75, -3.75, -0.5, 1.5, 4.5, 13.0])],
        ),
        Case::exact(
            "one dimension, groups and dilation in double precision",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 2, 4], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 1, 2], &[1.0, -1.0, 2.0, 1.0])),
                CaseArgument::None,
                Ints(&[1]),
                Ints(&[0]),
                Ints(&[2]),
                Bool(false),
                Ints(&[0]),
                Int(2),
            ],
            &[CaseTensor::of(ScalarType::Double, &[1, 2, 2], &[-2.0, -2.0, 17.0, 20.0])],
        ),
        Case::exact(
            "transposed with output padding",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0])),
                Tensor(CaseTensor::float(&[1, 1, 2, 2], &[1.0, 10.0, 100.0, 1000.0])),
                Tensor(CaseTensor::float(&[1], &[0.5])),
                Ints(&[2, 2]),
                Ints(&[1, 0]),
                Ints(&[1, 1]),
                Bool(true),
                Ints(&[1, 0]),
                Int(1),
            ],
            &[CaseTensor::float(
                &[1, 1, 3, 4],
                &[100.5, 1000.5, 200.5, 2000.5, 3.5, 30.5, 4.5, 40.5, 300.5, 3000.5, 400.5, 4000.5],
            )],
        ),
        Case::exact(
            "three dimensions",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 2, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])),
                Tensor(CaseTensor::float(&[1, 1, 2, 1, 2], &[1.0, -1.0, 10.0, 100.0])),
                CaseArgument::None,
                Ints(&[1, 1, 1]),
                Ints(&[1, 0, 0]),
                Ints(&[1, 1, 1]),
                Bool(false),
                Ints(&[0, 0, 0]),
                Int(1),
            ],
            &[CaseTensor::float(&[1, 1, 3, 2, 1], &[210.0, 430.0, 649.0, 869.0, -1.0, -1.0])],
        ),
        Case::exact(
            "three dimensions, transposed",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2, 1, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::float(&[1, 1, 2, 1, 2], &[1.0, 10.0, 100.0, 1000.0])),
                CaseArgument::None,
                Ints(&[1, 1, 1]),
                Ints(&[0, 0, 0]),
                Ints(&[1, 1, 1]),
                Bool(true),
                Ints(&[0, 0, 0]),
                Int(1),
            ],
            &[CaseTensor::float(&[1, 1, 3, 1, 2], &[1.0, 10.0, 102.0, 1020.0, 200.0, 2000.0])],
        ),
        Case::refused(
            "channels that do not fit the groups",
            &[
                Tensor(CaseTensor::float(&[1, 2, 1, 1], &[1.0; 2])),
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[1.0])),
                CaseArgument::None,
                Ints(&[1, 1]),
                Ints(&[0, 0]),
                Ints(&[1, 1]),
                Bool(false),
                Ints(&[0, 0]),
                Int(1),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "a kernel larger than the padded input",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1, 1], &[1.0])),
                Tensor(CaseTensor::float(&[1, 1, 2, 2], &[1.0; 4])),
                CaseArgument::None,
                Ints(&[1, 1]),
                Ints(&[0, 0]),
                Ints(&[1, 1]),
                Bool(false),
                Ints(&[0, 0]),
                Int(1),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// The shapes and parameters of a convolution over one to three dimensions, parsed from the arguments.
struct Geometry {
    axes: [Axis; 3],
    input: Volume,
    weight: Volume,
    groups: NonZero<usize>,
    out_channels: usize,
    transposed: bool,
}

impl Geometry {
    fn new(args: &Args<'_, '_>) -> Result<Self> {
        let (input, weight, transposed) = (args.tensor(0)?, args.tensor(1)?, args.bool(6)?);
        let groups = NonZero::new(natural(args.int(8)?)?);
        let (Some(groups), true) = (groups, input.rank() == weight.rank()) else {
            return Err(Error::InvalidArgument);
        };
        let dims = dims(args)?;
        let (input, weight) = (Volume::new(&input, dims)?, Volume::new(&weight, dims)?);
        let out_channels = if transposed { weight.sizes[1].checked_mul(groups.get()) } else { Some(weight.sizes[0]) };
        let out_channels = out_channels.ok_or(Error::InvalidArgument)?;
        let per_dim = |position| per_dim_argument(args, position, dims);
        let axes = axes(input.extent(), [weight.extent(), per_dim(3)?, per_dim(4)?, per_dim(5)?], dims)?;
        let geometry = Self { axes, input, weight, groups, out_channels, transposed };
        geometry.check_channels(args)?;
        Ok(geometry)
    }

    fn check_channels(&self, args: &Args<'_, '_>) -> Result<()> {
        let (channels, groups) = (self.input.sizes[1], self.groups);
        let grouped = self.weight.sizes[1].checked_mul(groups.get());
        let wanted = if self.transposed { Some(self.weight.sizes[0]) } else { grouped };
        let divides = channels % groups == 0 && self.out_channels % groups == 0;
        let bias_fits = args.optional_tensor(2)?.is_none_or(|bias| bias.numel() == self.out_channels);
        if Some(channels) == wanted && divides && bias_fits { Ok(()) } else { Err(Error::InvalidArgument) }
    }

    fn shape(&self, args: &Args<'_, '_>) -> Result<Shape> {
        let dims = dims(args)?;
        let extra = per_dim_argument(args, 7, dims)?;
        let mut shape = Shape::SCALAR;
        push(&mut shape, self.input.sizes[0])?;
        push(&mut shape, self.out_channels)?;
        for (axis, extra) in self.axes.iter().zip(extra).skip(3 - dims) {
            push(&mut shape, if self.transposed { transposed_outputs(axis, extra)? } else { axis.outputs(0)? })?;
        }
        Ok(shape)
    }
}

/// The number of spatial dimensions.
fn dims(args: &Args<'_, '_>) -> Result<usize> {
    let dims = args.tensor(0)?.rank().checked_sub(2);
    dims.filter(|dims| (1..=3).contains(dims)).ok_or(Error::InvalidArgument)
}

fn transposed_outputs(axis: &Axis, output_padding: usize) -> Result<usize> {
    if output_padding >= axis.stride.max(axis.dilation).get() {
        return Err(Error::InvalidArgument);
    }
    let reach = axis.input.checked_sub(1).and_then(|steps| steps.checked_mul(axis.stride.get()));
    let padded = reach.and_then(|reach| reach.checked_add(axis.span() + output_padding));
    padded.and_then(|padded| padded.checked_sub(2 * axis.padding)).ok_or(Error::InvalidArgument)
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    Ok(Meta { scalar_type: args.tensor(0)?.scalar_type(), shape: Geometry::new(args)?.shape(args)? })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (geometry, out) = (Geometry::new(args)?, args.tensor(9)?);
    out.settle(|| geometry.shape(args))?;
    match out.scalar_type() {
        ScalarType::Long if const { Dtypes(D).contains(ScalarType::Long) } => convolve::<i64>(&geometry, args, &out),
        scalar_type => dispatch!(D, scalar_type, floats, T => convolve::<T>(&geometry, args, &out)),
    }
}

/// Input, weights and where their relevant parts start.
#[derive(Clone, Copy)]
struct Operands<'a, T> {
    input: Input<'a, T>,
    weight: Input<'a, T>,
    input_at: usize,
    weight_at: usize,
}

fn convolve<T: Opmath>(geometry: &Geometry, args: &Args<'_, '_>, out: &et_core::Tensor<'_>) -> Result<()> {
    let (input, weight, to) = (args.tensor(0)?.input::<T>()?, args.tensor(1)?.input::<T>()?, out.output::<T>()?);
    let bias = args.optional_tensor(2)?.map(|bias| bias.input::<T>()).transpose()?;
    let image = Volume::new(out, dims(args)?)?;
    if HOSTED
        && let (Some(input), Some(weight), Some(to)) = (input.of_type(), weight.of_type(), to.of_type())
        && let Some(tiled) = geometry.tiled(input, weight, to, &image)
    {
        tiled.compute(bias.and_then(Input::of_type));
        return Ok(());
    }
    image.for_each_pixel(|pixel @ [batch, channel, at @ ..]| {
        let (input_at, weight_at) = geometry.starts(batch, channel);
        let sum = geometry.pixel(Operands { input, weight, input_at, weight_at }, at);
        let sum = bias.map_or(sum, |bias| sum.plus(bias.get(channel).raise()));
        to.set(image.offset(pixel), T::lower(sum));
    });
    Ok(())
}

impl Geometry {
    /// Where the group of an output channel starts in the input, and the channel's weights in the weights.
    fn starts(&self, batch: usize, channel: usize) -> (usize, usize) {
        // The quotient is at least 1, since an output channel exists.
        let outputs = NonZero::new(self.out_channels / self.groups).unwrap_or(NonZero::<usize>::MIN);
        let (first, within) = (channel / outputs * self.group_channels(), channel % outputs);
        let weight = if self.transposed { self.weight.channel(first, within) } else { self.weight.channel(channel, 0) };
        (self.input.channel(batch, first), weight)
    }

    /// The same convolution as tiled GEMMs, if the layouts of weight and output allow that.
    fn tiled<'a>(
        &self,
        input: Input<'a, f32>,
        weights: Input<'a, f32>,
        output: Output<'a, f32>,
        out: &Volume,
    ) -> Option<Tiled<'a>> {
        let [planes, axes @ ..] = self.axes;
        let (image, out) = (Picture::of(&self.input)?, Picture::of(out)?);
        let is_flat = planes.kernel == 1 && planes.padding == 0;
        let tiled = Tiled { axes, groups: self.groups, input, image, weights, output, out };
        (!self.transposed && is_flat && tiled.is_possible(&Picture::of(&self.weight)?)).then_some(tiled)
    }

    fn group_channels(&self) -> usize {
        self.input.sizes[1] / self.groups
    }

    fn pixel<T: Opmath>(&self, operands: Operands<'_, T>, at: [usize; 3]) -> T::Math {
        if self.transposed { self.transposed_pixel(operands, at) } else { self.direct_pixel(operands, at) }
    }

    #[inline]
    fn direct_pixel<T: Opmath>(&self, operands: Operands<'_, T>, [plane, row, column]: [usize; 3]) -> T::Math {
        let taps = [self.axes[0].taps(plane), self.axes[1].taps(row), self.axes[2].taps(column)];
        let (first, start) = (taps.map(|taps| taps.first), taps.map(|taps| taps.start));
        let [planes, rows, columns] = taps.map(|taps| taps.count);
        let [plane_step, row_step, input_step] = self.steps();
        let mut sum = T::Math::ZERO;
        for channel in 0..self.group_channels() {
            let input_at = operands.input_at + channel * self.input.strides[1] + self.input.pixel(start);
            let weight_at = operands.weight_at + channel * self.weight.strides[1] + self.weight.pixel(first);
            for plane in 0..planes {
                for row in 0..rows {
                    let input_at = input_at + plane * plane_step + row * row_step;
                    let weight_at = weight_at + self.weight.pixel([plane, row, 0]);
                    let pixels = Run { elements: operands.input, start: input_at, step: input_step };
                    let weights = Run { elements: operands.weight, start: weight_at, step: self.weight.strides[4] };
                    sum = dot(sum, pixels, weights, columns);
                }
            }
        }
        sum
    }

    /// The offset from the pixel of a kernel position to the pixel of the next kernel position, along each dimension.
    fn steps(&self) -> [usize; 3] {
        let [_, _, plane, row, column] = self.input.strides;
        let [planes, rows, columns] = self.axes.map(|axis| axis.dilation.get());
        [planes * plane, rows * row, columns * column]
    }

    fn transposed_pixel<T: Opmath>(&self, operands: Operands<'_, T>, at: [usize; 3]) -> T::Math {
        let mut sum = T::Math::ZERO;
        for channel in 0..self.group_channels() {
            let input_at = operands.input_at + channel * self.input.strides[1];
            let weight_at = operands.weight_at + channel * self.weight.strides[0];
            self.for_each_source(at, |input, weight| {
                let [pixel, weight] = [operands.input.get(input_at + input), operands.weight.get(weight_at + weight)];
                sum = sum.plus(pixel.raise().times(weight.raise()));
            });
        }
        sum
    }

    /// Visits the offsets of the input pixels that spread to an output pixel, each with the offset of the weight.
    fn for_each_source(&self, [plane, row, column]: [usize; 3], mut visit: impl FnMut(usize, usize)) {
        let [planes, rows, columns] = &self.axes;
        for plane_tap in 0..planes.kernel {
            let Some(plane) = planes.source(plane, plane_tap) else { continue };
            for row_tap in 0..rows.kernel {
                let Some(row) = rows.source(row, row_tap) else { continue };
                for column_tap in 0..columns.kernel {
                    let Some(column) = columns.source(column, column_tap) else { continue };
                    visit(self.input.pixel([plane, row, column]), self.weight.pixel([plane_tap, row_tap, column_tap]));
                }
            }
        }
    }
}
