//! Sliding-window operators, partitioned by output rows.

use core::ops::Range;

use et_core::{Error, Result};
use et_kernels::window::Window;

use crate::Place;
use crate::memory::{Operands, Plain};
use crate::run::Context;
use crate::shape::shape;
use crate::split;

/// NHWC tensors of a depthwise convolution or pooling: the input and the output have the same channels.
pub struct Images {
    /// The shape of the sliding window.
    pub window: Window,
    /// Channels.
    pub channels: usize,
    batch: usize,
    /// The elements of an input image, and of an output row.
    image: usize,
    width: usize,
}

impl Images {
    /// The NHWC shapes of a window.
    pub fn of(fields: &crate::Window) -> Result<Self> {
        let (batch, channels) = (fields.batch as usize, fields.input[2] as usize);
        shape(fields, channels).ok_or(Error::InvalidProgram)?.check()?;
        let pair = |pair: [u32; 2]| pair.map(|number| number as usize);
        let window = Window {
            input: pair([fields.input[0], fields.input[1]]),
            output: pair([fields.output[0], fields.output[1]]),
            kernel: pair(fields.kernel),
            stride: pair(fields.stride),
            padding: pair(fields.padding),
            dilation: pair(fields.dilation),
        };
        let image = count(&[window.input[0], window.input[1], channels])?;
        let width = count(&[window.output[1], channels])?;
        Ok(Self { window, channels, batch, image, width })
    }

    /// Partitions the output rows of all images among tasks of at least `least` units; an element counts `of_element` units.
    /// `kernel` gets an input image, a range of output rows and their elements. All other operands must be read before this call.
    pub fn rows<T: Plain + Send + Sync>(
        &self,
        context: &Context<'_, '_, '_>,
        mut operands: Operands<'_, '_, '_>,
        (input, output): (Place, Place),
        (least, of_element): (usize, usize),
        kernel: impl Fn(&[T], Range<usize>, &mut [T]) -> Result<()> + Sync,
    ) -> Result<()> {
        let (image, width, height) = (self.image, self.width, self.window.output[0]);
        let input = operands.read::<T>(input, count(&[self.batch, image])?)?;
        let output = operands.write::<T>(output, count(&[self.batch, height, width])?)?;
        let least = least / count(&[width, of_element])?.max(1) + 1;
        split::runs(context, output, width, least, |rows, output, _| {
            let mut done = 0;
            for (index, rows) in parts(rows, height) {
                let input = input.get(index * image..(index + 1) * image).ok_or(Error::InvalidProgram)?;
                let output = output.get_mut(done..done + rows.len() * width).ok_or(Error::InvalidProgram)?;
                done += output.len();
                kernel(input, rows, output)?;
            }
            Ok(())
        })
    }
}

/// A product of sizes.
pub fn count(sizes: &[usize]) -> Result<usize> {
    sizes.iter().try_fold(1_usize, |count, size| count.checked_mul(*size)).ok_or(Error::InvalidProgram)
}

/// Splits a range of output rows into ranges per image.
fn parts(rows: Range<usize>, height: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut start = rows.start;
    core::iter::from_fn(move || {
        let image = start.checked_div(height)?;
        let part = start..rows.end.min((image + 1) * height);
        start = part.end;
        (!part.is_empty()).then_some((image, part.start - image * height..part.end - image * height))
    })
}
