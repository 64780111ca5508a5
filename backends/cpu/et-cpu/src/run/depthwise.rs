//! Convolutions of each channel by itself.

use core::ops::Range;

use et_core::{Error, Result};
use et_kernels::activation::Activation;
use et_kernels::depthwise::depthwise;
use et_kernels::window::Window;

use crate::run::Context;
use crate::split;
use crate::{ActivationKind, Depthwise};

/// The least number of products that are worth a task.
const LEAST: usize = 1 << 15;

/// Executes the instruction: rows of the images are split among tasks.
pub fn run(context: &Context<'_, '_, '_>, fields: &Depthwise) -> Result<()> {
    let window = window(&fields.window);
    let [batch, channels] = [fields.window.batch as usize, fields.window.input[2] as usize];
    let image = count(&[window.input[0], window.input[1], channels])?;
    let width = count(&[window.output[1], channels])?;
    let mut operands = context.memory.operands();
    let input = operands.read::<f32>(fields.input, count(&[batch, image])?)?;
    let weights = operands.read_all::<f32>(fields.weights)?;
    let bias = operands.read_all::<f32>(fields.bias)?;
    let output = operands.write::<f32>(fields.output, count(&[batch, window.output[0], width])?)?;
    let (activation, level) = (activation(&fields.activation)?, context.level);
    let least = LEAST / count(&[width, window.kernel[0], window.kernel[1]])?.max(1) + 1;
    split::runs(context, output, width, least, |rows, output, _| {
        let mut done = 0;
        for (index, rows) in images(rows, window.output[0]) {
            let input = input.get(index * image..(index + 1) * image).ok_or(Error::InvalidProgram)?;
            let output = output.get_mut(done..done + rows.len() * width).ok_or(Error::InvalidProgram)?;
            done += output.len();
            depthwise(level, &window, channels, input, weights, bias, activation, rows, output)?;
        }
        Ok(())
    })
}

/// A window as kernels have it.
pub fn window(window: &crate::Window) -> Window {
    let pair = |pair: [u32; 2]| pair.map(|number| number as usize);
    Window {
        input: pair([window.input[0], window.input[1]]),
        output: pair([window.output[0], window.output[1]]),
        kernel: pair(window.kernel),
        stride: pair(window.stride),
        padding: pair(window.padding),
        dilation: pair(window.dilation),
    }
}

/// A product of sizes.
pub fn count(sizes: &[usize]) -> Result<usize> {
    sizes.iter().try_fold(1_usize, |count, size| count.checked_mul(*size)).ok_or(Error::InvalidProgram)
}

/// The rows of all images as rows of each image.
pub fn images(rows: Range<usize>, height: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut start = rows.start;
    core::iter::from_fn(move || {
        let image = start.checked_div(height)?;
        let part = start..rows.end.min((image + 1) * height);
        start = part.end;
        (!part.is_empty()).then_some((image, part.start - image * height..part.end - image * height))
    })
}

fn activation(activation: &crate::Activation) -> Result<Activation> {
    match ActivationKind::from_number(activation.kind) {
        Some(ActivationKind::Identity) => Ok(Activation::Clamp(activation.low, activation.high)),
        Some(ActivationKind::Hardswish) => Ok(Activation::Hardswish),
        _ => Err(Error::InvalidProgram),
    }
}
