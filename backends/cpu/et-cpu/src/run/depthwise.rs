//! Depthwise convolution, f32 or int8.

use et_core::{Error, Result};
use et_kernels::depthwise::{Requantization, depthwise, depthwise_bytes};

use crate::run::Context;
use crate::run::conv2d::activation;
use crate::run::images::{Images, count};
use crate::{ActivationKind, Depthwise, QParams};

/// The minimum multiply-accumulates of a task, f32 and int8.
const LEAST: [usize; 2] = [1 << 15, 1 << 17];

/// Executes the instruction: output rows are partitioned among tasks.
pub fn run(context: &Context<'_, '_, '_>, fields: &Depthwise) -> Result<()> {
    match fields.input_qparams.is_int8() {
        false if cfg!(feature = "depthwise") => float(context, fields),
        true if cfg!(feature = "byte-depthwise") => int8(context, fields),
        _ => Err(Error::NotSupported),
    }
}

fn float(context: &Context<'_, '_, '_>, fields: &Depthwise) -> Result<()> {
    let images = Images::of(&fields.window)?;
    let Images { window, channels, .. } = &images;
    let mut operands = context.memory.operands();
    let weights = operands.read_all::<f32>(fields.weights)?;
    let bias = operands.read_all::<f32>(fields.bias)?;
    let (activation, level, places) = (activation(&fields.activation)?, context.level, (fields.input, *fields.output));
    let least = (LEAST[0], count(&window.kernel)?);
    images.rows(context, operands, places, least, |input, rows, output| {
        depthwise(level, window, *channels, input, weights, bias, activation, rows, output)
    })
}

fn int8(context: &Context<'_, '_, '_>, fields: &Depthwise) -> Result<()> {
    let images = Images::of(&fields.window)?;
    let Images { window, channels, .. } = &images;
    let mut operands = context.memory.operands();
    let weights = operands.read_all::<i8>(fields.weights)?;
    let bias = operands.read_all::<i32>(fields.bias)?;
    let to = requantization(fields, operands.read_all::<f32>(fields.scales)?)?;
    let zero_point = byte(fields.input_qparams.zero_point)?;
    let (level, places) = (context.level, (fields.input, *fields.output));
    let least = (LEAST[1], count(&window.kernel)?);
    images.rows(context, operands, places, least, |input, rows, output| {
        depthwise_bytes(level, window, *channels, input, zero_point, weights, bias, to, rows, output)
    })
}

/// Requantization of the accumulators: after the activation, or with clamp limits in int8.
fn requantization<'m>(fields: &Depthwise, scale: &'m [f32]) -> Result<Requantization<'m>> {
    let qparams = &fields.output_qparams;
    let zero_point = i32::from(byte(qparams.zero_point)?);
    let range = byte_limits(&fields.activation, qparams);
    let hardswish = match ActivationKind::from_number(fields.activation.kind) {
        Some(ActivationKind::Identity) => None,
        Some(ActivationKind::Hardswish) => Some(1.0 / qparams.scale),
        _ => return Err(Error::InvalidProgram),
    };
    if !qparams.is_int8() {
        return Err(Error::InvalidProgram);
    }
    Ok(Requantization { scale, zero_point, range, hardswish })
}

/// The int8 clamp limits.
pub fn byte_limits(limits: &crate::Activation, numbers: &QParams) -> [i8; 2] {
    [limits.low, limits.high].map(|limit| {
        let steps = (limit / numbers.scale).clamp(-1024.0, 1024.0);
        // Adding 1.5 * 2^23 rounds to the nearest integer, ties to even.
        let rounded = (steps + 12_582_912.0) - 12_582_912.0;
        (rounded as i32).saturating_add(numbers.zero_point).clamp(-128, 127) as i8
    })
}

/// The zero point as int8.
pub fn byte(number: i32) -> Result<i8> {
    i8::try_from(number).map_err(|_| Error::InvalidProgram)
}
