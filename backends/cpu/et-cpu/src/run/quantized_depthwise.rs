//! Depthwise int8 convolution.

use et_core::{Error, Result};
use et_kernels::depthwise::{Requantization, depthwise_bytes};

use crate::run::Context;
use crate::run::images::{Images, count};
use crate::run::quantized_product::{byte, byte_limits};
use crate::{ActivationKind, QuantizedDepthwise};

/// The minimum multiply-accumulates of a task.
const LEAST: usize = 1 << 17;

/// Executes the instruction: output rows are partitioned among tasks.
pub fn run(context: &Context<'_, '_, '_>, fields: &QuantizedDepthwise) -> Result<()> {
    let images = Images::of(&fields.window)?;
    let Images { window, channels, .. } = &images;
    let mut operands = context.memory.operands();
    let weights = operands.read_all::<i8>(fields.weights)?;
    let bias = operands.read_all::<i32>(fields.bias)?;
    let to = requantization(fields, operands.read_all::<f32>(fields.scales)?)?;
    let (zero_point, level, places) = (byte(fields.input_zero)?, context.level, (fields.input, fields.output));
    let least = (LEAST, count(&window.kernel)?);
    images.rows(context, operands, places, least, |input, rows, output| {
        depthwise_bytes(level, window, *channels, input, zero_point, weights, bias, to, rows, output)
    })
}

/// Requantization of the accumulators: after the activation, or with clamp limits in int8.
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
