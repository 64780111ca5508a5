//! Pooling: a number for each position of the kernel on each channel of an image.

use core::ops::Range;

use et_core::{Args, Element, Error, Input, Number, Result, ScalarType, Shape, Tensor};

use super::divide::Divide;
use super::opmath::Opmath;
use super::spatial::{Axis, Taps, Volume, axes, per_dim, per_dim_argument, push};
use super::transfer;
use crate::Meta;

/// The parameters of pooling of the first argument.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    /// Planes, rows, columns; missing dimensions are [`Axis::ABSENT`].
    pub axes: [Axis; 3],
    /// The number of spatial dimensions.
    pub dims: usize,
    ceiling: bool,
}

impl Pool {
    /// Pooling over `dims` dimensions of the first argument. Kernel sizes, strides and paddings are arguments 1 to 3;
    /// `ceiling` says whether receptive fields may start inside and end outside the padded image.
    pub fn new(args: &Args<'_, '_>, dims: usize, dilations: [usize; 3], ceiling: bool) -> Result<Self> {
        Self::of(args, [0, 1, 2, 3], dims, dilations, ceiling)
    }

    /// As [`Pool::new`], where image, kernel sizes, strides and paddings are the arguments at `positions`.
    pub fn of(
        args: &Args<'_, '_>,
        positions: [usize; 4],
        dims: usize,
        dilations: [usize; 3],
        ceiling: bool,
    ) -> Result<Self> {
        let [image, kernels, strides, paddings] = positions;
        let image = Volume::new(&args.tensor(image)?, dims)?;
        let (kernels, strides) = (per_dim_argument(args, kernels, dims)?, args.ints(strides)?);
        let strides = if strides.is_empty() { kernels } else { per_dim(&strides, dims)? };
        let parameters = [kernels, strides, per_dim_argument(args, paddings, dims)?, dilations];
        let axes = axes(image.extent(), parameters, dims)?;
        axes.iter().try_for_each(check_padding)?;
        Ok(Self { axes, dims, ceiling })
    }

    /// The type of the first argument and the shape of the output.
    pub fn meta(&self, args: &Args<'_, '_>) -> Result<Meta> {
        transfer::reshaped(args, self.shape(&args.tensor(0)?)?)
    }

    /// The shape of the output for this image.
    pub fn shape(&self, image: &Tensor<'_>) -> Result<Shape> {
        let mut sizes = [1; 3];
        for (size, axis) in sizes.iter_mut().zip(&self.axes) {
            *size = outputs(axis, self.ceiling)?;
        }
        resized_shape(&image.shape(), sizes, self.dims)
    }

    /// As [`Pool::meta`], for the output `index` of two, values and their indices.
    pub fn meta_with_indices(&self, args: &Args<'_, '_>, index: usize) -> Result<Meta> {
        self.meta(args).map(|values| values_or_indices(values, index))
    }
}

/// Output `index` of an operator that gives values and their `int64` indices.
pub fn values_or_indices(values: Meta, index: usize) -> Meta {
    if index == 0 { values } else { Meta { scalar_type: ScalarType::Long, ..values } }
}

/// The dtype of the first argument and its shape, with the last `dims` sizes replaced.
pub fn resized(args: &Args<'_, '_>, sizes: [usize; 3], dims: usize) -> Result<Meta> {
    transfer::reshaped(args, resized_shape(&args.tensor(0)?.shape(), sizes, dims)?)
}

fn resized_shape(input: &Shape, sizes: [usize; 3], dims: usize) -> Result<Shape> {
    let channels = input.rank().checked_sub(dims).and_then(|outer| input.sizes().get(..outer));
    let mut shape = Shape::new(channels.ok_or(Error::InvalidArgument)?)?;
    sizes.into_iter().skip(3_usize.saturating_sub(dims)).try_for_each(|size| push(&mut shape, size))?;
    Ok(shape)
}

fn check_padding(axis: &Axis) -> Result<()> {
    if axis.padding <= axis.span() / 2 { Ok(()) } else { Err(Error::InvalidArgument) }
}

fn outputs(axis: &Axis, ceiling: bool) -> Result<usize> {
    let count = axis.outputs(if ceiling { axis.stride.get() - 1 } else { 0 })?;
    let last_starts_outside = ceiling && (count - 1) * axis.stride.get() >= axis.input + axis.padding;
    Ok(count - usize::from(last_starts_outside))
}

/// The sum of some planes, rows and columns of the channel that starts at `start`.
pub fn sum<T: Opmath>(
    elements: Input<'_, T>,
    image: &Volume,
    start: usize,
    [planes, rows, columns]: [Range<usize>; 3],
) -> T::Math {
    let mut sum = T::Math::ZERO;
    for plane in planes {
        for row in rows.clone() {
            for column in columns.clone() {
                sum = sum.plus(elements.get(start + image.pixel([plane, row, column])).raise());
            }
        }
    }
    sum
}

/// Stores the mean of each receptive field: arguments 5 and 6 say whether padding counts, and give a different divisor.
pub fn means<T: Opmath>(pool: &Pool, args: &Args<'_, '_>, out: &Tensor<'_>) -> Result<()> {
    let (input, padding_counts, divisor) = (args.tensor(0)?, args.bool(5)?, args.optional_int(6)?);
    let (from, to) = (input.input::<T>()?, out.output::<T>()?);
    let (image, out_image) = (Volume::new(&input, pool.dims)?, Volume::new(out, pool.dims)?);
    out_image.for_each_pixel(|pixel @ [batch, channel, at @ ..]| {
        let taps = taps(pool, at);
        let inside = taps.map(|taps| taps.count);
        let counted = if padding_counts { padded_counts(pool, at) } else { inside };
        let window = taps.map(|taps| taps.start..taps.start + taps.count);
        let sum = sum::<T>(from, &image, image.channel(batch, channel), window);
        let divisor = divisor.unwrap_or(counted.into_iter().product::<usize>() as i64);
        to.set(out_image.offset(pixel), T::lower(sum.divided(Element::from_i64(divisor))));
    });
    Ok(())
}

fn taps(pool: &Pool, [plane, row, column]: [usize; 3]) -> [Taps; 3] {
    let [planes, rows, columns] = &pool.axes;
    [planes.taps(plane), rows.taps(row), columns.taps(column)]
}

/// The kernel positions that lie inside the padded input.
fn padded_counts(pool: &Pool, at: [usize; 3]) -> [usize; 3] {
    let count = |axis: &Axis, at: usize| {
        let end = axis.input + 2 * axis.padding;
        axis.kernel.min(end.saturating_sub(at * axis.stride.get()))
    };
    let ([planes, rows, columns], [plane, row, column]) = (&pool.axes, at);
    [count(planes, plane), count(rows, row), count(columns, column)]
}

/// Stores the maximum of each receptive field in `out`, and the index of the maximum in its channel in `indices`.
pub fn maxima<T: Number>(pool: &Pool, input: &Tensor<'_>, [out, indices]: [&Tensor<'_>; 2]) -> Result<()> {
    let (from, to, places) = (input.input::<T>()?, out.output::<T>()?, indices.output::<i64>()?);
    let image = Volume::new(input, pool.dims)?;
    let [out_image, index_image] = [Volume::new(out, pool.dims)?, Volume::new(indices, pool.dims)?];
    let steps = pool.axes.map(|axis| axis.dilation.get());
    out_image.for_each_pixel(|pixel @ [batch, channel, at @ ..]| {
        let start = image.channel(batch, channel);
        let (value, index) = greatest(&image, taps(pool, at), steps, |offset| from.get(start + offset));
        to.set(out_image.offset(pixel), value);
        places.set(index_image.offset(pixel), index as i64);
    });
    Ok(())
}

/// The maximum of a receptive field, the first of equal elements, and its row-major index in the channel. NaN is
/// greatest.
pub fn greatest<T: Number>(
    image: &Volume,
    window: [Taps; 3],
    steps: [usize; 3],
    load: impl Fn(usize) -> T,
) -> (T, usize) {
    let mut best = (T::LOWEST, image.number(window.map(|taps| taps.start)));
    let along = |dim: usize| (0..window[dim].count).map(move |tap| window[dim].start + tap * steps[dim]);
    for plane in along(0) {
        for row in along(1) {
            for column in along(2) {
                let element = load(image.pixel([plane, row, column]));
                if element > best.0 || element.is_nan() {
                    best = (element, image.number([plane, row, column]));
                }
            }
        }
    }
    best
}
