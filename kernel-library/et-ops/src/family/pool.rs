//! Pooling: one number for each position of a window on each channel of an image.

use core::ops::Range;

use et_core::{Args, Error, Input, Number, Result, Shape};

use super::opmath::Opmath;
use super::spatial::{Axis, Image, pair, pair_argument, push};
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
    pub fn new(args: &Args<'_, '_>, dilations: [usize; 2], ceiling: bool) -> Result<Self> {
        let image = Image::new(&args.tensor(0)?, ABSENT)?;
        let (kernels, strides) = (pair_argument(args, 1)?, args.ints(2)?);
        let strides = if strides.is_empty() { kernels } else { pair(&strides)? };
        let parameters = [kernels, strides, pair_argument(args, 3)?, dilations];
        let mut axes = [Axis::ABSENT; 2];
        for (dim, axis) in axes.iter_mut().enumerate() {
            *axis = Axis::new(image.sizes[dim + 2], parameters.map(|pair| pair[dim])).and_then(check_padding)?;
        }
        Ok(Self { axes, ceiling })
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

fn check_padding(axis: Axis) -> Result<Axis> {
    if axis.padding <= axis.span() / 2 { Ok(axis) } else { Err(Error::InvalidArgument) }
}

fn outputs(axis: &Axis, ceiling: bool) -> Result<usize> {
    let count = axis.outputs(if ceiling { axis.stride.get() - 1 } else { 0 })?;
    let last_starts_outside = ceiling && (count - 1) * axis.stride.get() >= axis.input + axis.padding;
    Ok(count - usize::from(last_starts_outside))
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
