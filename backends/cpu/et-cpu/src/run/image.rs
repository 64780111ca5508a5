//! Pooling, and means over the middle of three dimensions.

use et_core::{Error, Result};

use crate::run::Context;
use crate::split;
use crate::{Mean, Pool, Window};

/// The least number of elements that are worth a task.
const LEAST: usize = 1 << 12;

/// The greatest or the mean element of each window. A row of the output is a pixel.
pub fn pool(context: &Context<'_, '_, '_>, fields: &Pool) -> Result<()> {
    let window = &fields.window;
    let count = |shape: [u32; 3]| shape.iter().fold(window.batch as usize, |count, size| count * *size as usize);
    let channels = window.input[2] as usize;
    let mut operands = context.memory.operands();
    let input = operands.read::<f32>(fields.input, count(window.input))?;
    let output = operands.write::<f32>(fields.output, count(window.output))?;
    split::runs(context, output, channels, LEAST / channels.max(1), |pixels, output, _| {
        for (pixel, output) in pixels.zip(output.chunks_exact_mut(channels)) {
            pool_pixel(window, fields.kind, input, pixel, output);
        }
        Ok(())
    })
}

fn pool_pixel(window: &Window, kind: u32, input: &[f32], pixel: usize, output: &mut [f32]) {
    output.fill(if kind == 0 { f32::NEG_INFINITY } else { 0.0 });
    let taps = taps(window, pixel);
    let mut inside = 0;
    for tap in taps {
        let Some(row) = input.get(tap * output.len()..(tap + 1) * output.len()) else { continue };
        inside += 1;
        if kind == 0 {
            // A comparison that is false for what is not a number keeps it.
            output.iter_mut().zip(row).for_each(|(most, element)| *most = greater(*most, *element));
        } else {
            output.iter_mut().zip(row).for_each(|(sum, element)| *sum += element);
        }
    }
    if kind != 0 {
        let whole = (window.kernel[0] * window.kernel[1]) as usize;
        let divisor = if kind == 2 { whole } else { inside };
        output.iter_mut().for_each(|sum| *sum /= divisor as f32);
    }
}

fn greater(most: f32, element: f32) -> f32 {
    if element > most || element.is_nan() { element } else { most }
}

/// The pixels of the image that a window covers.
fn taps(window: &Window, pixel: usize) -> impl Iterator<Item = usize> {
    let [height, width, _] = window.output.map(|size| size as usize);
    let (image, y, x) = (pixel / (height * width).max(1), pixel / width.max(1) % height.max(1), pixel % width.max(1));
    let window = *window;
    let first = [y, x].map(|place| place as i64);
    (0..window.kernel[0]).flat_map(move |row| (0..window.kernel[1]).map(move |column| [row, column])).filter_map(
        move |tap| {
            let place = |axis: usize| {
                let place = first[axis] * i64::from(window.stride[axis]) - i64::from(window.padding[axis])
                    + i64::from(tap[axis]) * i64::from(window.dilation[axis]);
                usize::try_from(place).ok().filter(|place| *place < window.input[axis] as usize)
            };
            let (y, x) = (place(0)?, place(1)?);
            Some((image * window.input[0] as usize + y) * window.input[1] as usize + x)
        },
    )
}

/// Means over the middle dimension: sums of rows where the inner dimension is long, of runs where it is one element.
pub fn mean(context: &Context<'_, '_, '_>, fields: &Mean) -> Result<()> {
    let [outer, reduced, inner] = fields.sizes.map(|size| size as usize);
    let count = outer.checked_mul(reduced).and_then(|count| count.checked_mul(inner)).ok_or(Error::InvalidProgram)?;
    let mut operands = context.memory.operands();
    let input = operands.read::<f32>(fields.input, count)?;
    let output = operands.write::<f32>(fields.output, outer * inner)?.slice();
    let parts = input.chunks_exact((reduced * inner).max(1));
    for (sums, part) in output.chunks_exact_mut(inner.max(1)).zip(parts) {
        if inner == 1 {
            sums.fill(sum(part) / reduced as f32);
        } else {
            sums.fill(0.0);
            for row in part.chunks_exact(inner) {
                sums.iter_mut().zip(row).for_each(|(sum, element)| *sum += element);
            }
            sums.iter_mut().for_each(|sum| *sum /= reduced as f32);
        }
    }
    Ok(())
}

/// The sum of a run, in sixteen parts that are added up in the end.
fn sum(run: &[f32]) -> f32 {
    let (chunks, rest) = run.as_chunks::<16>();
    let mut sums = [0.0; 16];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, element)| *sum += element);
    }
    sums.iter().sum::<f32>() + rest.iter().sum::<f32>()
}
