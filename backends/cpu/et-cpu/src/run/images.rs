//! Work on images, row by row of the results.

use core::ops::Range;

use et_core::{Error, Result};
use et_kernels::window::Window;

use crate::Place;
use crate::memory::{Operands, Plain};
use crate::run::Context;
use crate::shape::shape;
use crate::split;

/// Images with as many channels as their results, over which a window slides.
pub struct Images {
    /// The window.
    pub window: Window,
    /// Channels.
    pub channels: usize,
    batch: usize,
    /// The elements of an image, and of a row of the results.
    image: usize,
    width: usize,
}

impl Images {
    /// The images of a window.
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

    /// Splits the rows of all results among tasks, of which one should have at least `least` units, and an element so many:
    /// `kernel` gets an image, some rows and their elements. It writes last: everything else was read before.
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

/// The rows of all images as rows of each image.
fn parts(rows: Range<usize>, height: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut start = rows.start;
    core::iter::from_fn(move || {
        let image = start.checked_div(height)?;
        let part = start..rows.end.min((image + 1) * height);
        start = part.end;
        (!part.is_empty()).then_some((image, part.start - image * height..part.end - image * height))
    })
}
