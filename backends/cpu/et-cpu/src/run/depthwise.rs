//! Convolutions of each channel by itself.

use et_core::Result;

use crate::run::Context;
use crate::run::product::activation;
use crate::split;
use crate::{Depthwise, Window};

/// The least number of products that are worth a task.
const LEAST: usize = 1 << 12;

/// Executes the instruction: a row of the output is a pixel.
pub fn run(context: &Context<'_, '_, '_>, fields: &Depthwise) -> Result<()> {
    let window = &fields.window;
    let count = |shape: [u32; 3]| shape.iter().fold(window.batch as usize, |count, size| count * *size as usize);
    let channels = window.input[2] as usize;
    let mut operands = context.memory.operands();
    let input = operands.read::<f32>(fields.input, count(window.input))?;
    let weights = operands.read_all::<f32>(fields.weights)?;
    let bias = operands.read_optional::<f32>(fields.bias)?;
    let output = operands.write::<f32>(fields.output, count(window.output))?;
    let activation = activation(&fields.activation)?;
    split::runs(context, output, channels, LEAST / channels.max(1), |pixels, output, _| {
        for (pixel, output) in pixels.zip(output.chunks_exact_mut(channels)) {
            match bias {
                Some(bias) => output.copy_from_slice(&bias[..channels]),
                None => output.fill(0.0),
            }
            convolve(window, input, weights, pixel, output);
            output.iter_mut().for_each(|element| *element = apply(activation, *element));
        }
        Ok(())
    })
}

fn convolve(window: &Window, input: &[f32], weights: &[f32], pixel: usize, output: &mut [f32]) {
    let [height, width, channels] = window.output.map(|size| size as usize);
    let (image, y, x) = (pixel / (height * width), pixel / width % height, pixel % width);
    for row in 0..window.kernel[0] {
        for column in 0..window.kernel[1] {
            let place = |axis: usize, place: usize, tap: u32| {
                let first = place as i64 * i64::from(window.stride[axis]) - i64::from(window.padding[axis]);
                let place = first + i64::from(tap) * i64::from(window.dilation[axis]);
                usize::try_from(place).ok().filter(|place| *place < window.input[axis] as usize)
            };
            let (Some(y), Some(x)) = (place(0, y, row), place(1, x, column)) else { continue };
            let start = ((image * window.input[0] as usize + y) * window.input[1] as usize + x) * channels;
            let tap = (row * window.kernel[1] + column) as usize * channels;
            let pairs = input[start..start + channels].iter().zip(&weights[tap..tap + channels]);
            output.iter_mut().zip(pairs).for_each(|(sum, (element, weight))| *sum += element * weight);
        }
    }
}

fn apply(activation: et_gemm::Activation, x: f32) -> f32 {
    use et_gemm::Activation;
    match activation {
        Activation::None => x,
        Activation::Clamp(low, high) => x.max(low).min(high),
        Activation::HardSwish => x * (x + 3.0).max(0.0).min(6.0) / 6.0,
        Activation::HardSigmoid => (x + 3.0).max(0.0).min(6.0) / 6.0,
        _ => x,
    }
}
