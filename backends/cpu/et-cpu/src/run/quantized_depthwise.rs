//! Convolutions of each channel by itself, of bytes.

use et_core::{Error, Result};
use et_kernels::depthwise::{Requantization, depthwise_bytes};

use crate::run::Context;
use crate::run::depthwise::{count, images, window};
use crate::run::quantized_product::{byte, byte_limits};
use crate::split;
use crate::{ActivationKind, QuantizedDepthwise};

/// The least number of multiplications that are worth a task.
const LEAST: usize = 1 << 17;

/// Executes the instruction: rows of the images are split among tasks.
pub fn run(context: &Context<'_, '_, '_>, fields: &QuantizedDepthwise) -> Result<()> {
    let window = window(&fields.window);
    let [batch, channels] = [fields.window.batch as usize, fields.window.input[2] as usize];
    let image = count(&[window.input[0], window.input[1], channels])?;
    let width = count(&[window.output[1], channels])?;
    let mut operands = context.memory.operands();
    let input = operands.read::<i8>(fields.input, count(&[batch, image])?)?;
    let weights = operands.read_all::<i8>(fields.weights)?;
    let bias = operands.read_all::<i32>(fields.bias)?;
    let scale = operands.read_all::<f32>(fields.scales)?;
    let output = operands.write::<i8>(fields.output, count(&[batch, window.output[0], width])?)?;
    let zero_point = byte(fields.input_zero)?;
    let requantization = requantization(fields, scale)?;
    let level = context.level;
    let least = LEAST / count(&[width, window.kernel[0], window.kernel[1]])?.max(1) + 1;
    split::runs(context, output, width, least, |rows, output, _| {
        let mut done = 0;
        for (index, rows) in images(rows, window.output[0]) {
            let input = input.get(index * image..(index + 1) * image).ok_or(Error::InvalidProgram)?;
            let output = output.get_mut(done..done + rows.len() * width).ok_or(Error::InvalidProgram)?;
            done += output.len();
            let to = requantization;
            depthwise_bytes(level, &window, channels, input, zero_point, weights, bias, to, rows, output)?;
        }
        Ok(())
    })
}

/// How sums become bytes: after the function, or within limits.
fn requantization<'m>(fields: &QuantizedDepthwise, scale: &'m [f32]) -> Result<Requantization<'m>> {
    let zero_point = i32::from(byte(fields.numbers.zero_point)?);
    let range = byte_limits(&fields.activation, &fields.numbers);
    let hardswish = match ActivationKind::from_number(fields.activation.kind) {
        Some(ActivationKind::Identity) => None,
        Some(ActivationKind::Hardswish) => Some(1.0 / fields.numbers.scale),
        _ => return Err(Error::InvalidProgram),
    };
    if !fields.numbers.are_bytes() {
        return Err(Error::InvalidProgram);
    }
    Ok(Requantization { scale, zero_point, range, hardswish })
}
