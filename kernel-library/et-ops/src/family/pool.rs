//! Pooling: one number for each position of a window on each channel of an image.

use core::ops::Range;

use et_core::{Args, Error, Input, Number, Result, Shape};

use super::opmath::Opmath;
use super::spatial::{Axis, Image, push};
use super::transfer;
use crate::Meta;

/// The dimension that an image without a batch lacks.
pub const ABSENT: usize = 0;

/// How windows of rows and columns slide over the first argument.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    /// Rows, columns.
    pub axes: [Axis; 2],
    ceiling: bool,
}

impl Pool {
    /// Kernel sizes, strides and paddings are arguments 1 to 3; `ceiling` says whether windows may start inside and end
    /// outside the padded image.
    pub fn new(args: &Args<'_, '_>, dilations: &[i64], ceiling: bool) -> Result<Self> {
        let image = Image::new(&args.tensor(0)?, ABSENT)?;
        let [kernels, strides, paddings] = [args.ints(1)?, args.ints(2)?, args.ints(3)?];
        let strides = if strides.is_empty() { kernels } else { strides };
        let axis = |dim: usize| {
            let parameters = [pair(&kernels, dim)?, pair(&strides, dim)?, pair(&paddings, dim)?, pair(dilations, dim)?];
            Axis::new(image.sizes[dim + 2], parameters).and_then(check_padding)
        };
        Ok(Self { axes: [axis(0)?, axis(1)?], ceiling })
    }

    /// The type of the first argument and the shape of the output.
    pub fn meta(&self, args: &Args<'_, '_>) -> Result<Meta> {
        let [rows, columns] = self.axes;
        resized(args, [outputs(&rows, self.ceiling)?, outputs(&columns, self.ceiling)?])
    }
}

/// The type of the first argument and its shape with other numbers of rows and columns.
pub fn resized(args: &Args<'_, '_>, sizes: [usize; 2]) -> Result<Meta> {
    let input = args.tensor(0)?.shape();
    let [channels @ .., _, _] = input.sizes() else { return Err(Error::InvalidArgument) };
    let mut shape = Shape::new(channels)?;
    sizes.into_iter().try_for_each(|size| push(&mut shape, size))?;
    transfer::reshaped(args, shape)
}

/// A list of one number holds for rows and columns.
pub fn pair(list: &[i64], dim: usize) -> Result<i64> {
    match list {
        [both] => Ok(*both),
        [_, _] => Ok(list[dim]),
        _ => Err(Error::InvalidArgument),
    }
}

fn check_padding(axis: Axis) -> Result<Axis> {
    if axis.padding <= axis.span()? / 2 { Ok(axis) } else { Err(Error::InvalidArgument) }
}

fn outputs(axis: &Axis, ceiling: bool) -> Result<usize> {
    if !ceiling {
        return axis.outputs();
    }
    let reach = axis.input + 2 * axis.padding + axis.stride - 1;
    let count = reach.checked_sub(axis.span()?).ok_or(Error::InvalidArgument)? / axis.stride + 1;
    let last_starts_inside = (count - 1) * axis.stride < axis.input + axis.padding;
    Ok(if last_starts_inside { count } else { count - 1 })
}

/// Calls `visit` with batch, channel, row and column of each pixel.
pub fn for_each_pixel(image: &Image, mut visit: impl FnMut([usize; 4])) {
    let [batches, channels, rows, columns] = image.sizes;
    for batch in 0..batches {
        for channel in 0..channels {
            for row in 0..rows {
                (0..columns).for_each(|column| visit([batch, channel, row, column]));
            }
        }
    }
}

/// The sum of some rows and columns of the plane that starts at `plane`.
pub fn sum<T: Opmath>(
    elements: Input<'_, T>,
    image: &Image,
    plane: usize,
    [rows, columns]: [Range<usize>; 2],
) -> T::Math {
    let mut sum = T::Math::ZERO;
    for row in rows {
        for column in columns.clone() {
            sum = sum.plus(elements.get(plane + image.pixel(row, column)).raise());
        }
    }
    sum
}
