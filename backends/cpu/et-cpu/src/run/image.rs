//! Pooling, and means over the middle of three dimensions.

use et_core::{Error, Result};

use et_kernels::pool::{Divisor, average_pool, max_pool};

use crate::run::Context;
use crate::run::depthwise::{count, images, window};
use crate::split;
use crate::{Mean, Pool};

/// The least number of elements that are worth a task.
const LEAST: usize = 1 << 12;

/// The greatest or the mean element of each window: rows of the images are split among tasks.
pub fn pool(context: &Context<'_, '_, '_>, fields: &Pool) -> Result<()> {
    let window = window(&fields.window);
    let [batch, channels] = [fields.window.batch as usize, fields.window.input[2] as usize];
    let image = count(&[window.input[0], window.input[1], channels])?;
    let width = count(&[window.output[1], channels])?;
    let mut operands = context.memory.operands();
    let input = operands.read::<f32>(fields.input, count(&[batch, image])?)?;
    let output = operands.write::<f32>(fields.output, count(&[batch, window.output[0], width])?)?;
    let (kind, level, taps) = (fields.kind, context.level, (window.kernel[0] * window.kernel[1]) as f32);
    split::runs(context, output, width, LEAST / width.max(1) + 1, |rows, output, _| {
        let mut done = 0;
        for (index, rows) in images(rows, window.output[0]) {
            let input = input.get(index * image..(index + 1) * image).ok_or(Error::InvalidProgram)?;
            let output = output.get_mut(done..done + rows.len() * width).ok_or(Error::InvalidProgram)?;
            done += output.len();
            match kind {
                0 => max_pool(level, &window, channels, input, rows, output)?,
                1 => average_pool(level, &window, channels, input, Divisor::Inside, rows, output)?,
                2 => average_pool(level, &window, channels, input, Divisor::Fixed(taps), rows, output)?,
                _ => return Err(Error::InvalidProgram),
            }
        }
        Ok(())
    })
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
