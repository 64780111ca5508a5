//! Depthwise f32 convolution.

use et_core::Result;
use et_kernels::depthwise::depthwise;

use crate::Depthwise;
use crate::run::Context;
use crate::run::images::{Images, count};
use crate::run::product::activation;

/// The minimum multiply-accumulates of a task.
const LEAST: usize = 1 << 15;

/// Executes the instruction: output rows are partitioned among tasks.
pub fn run(context: &Context<'_, '_, '_>, fields: &Depthwise) -> Result<()> {
    let images = Images::of(&fields.window)?;
    let Images { window, channels, .. } = &images;
    let mut operands = context.memory.operands();
    let weights = operands.read_all::<f32>(fields.weights)?;
    let bias = operands.read_all::<f32>(fields.bias)?;
    let (activation, level, places) = (activation(&fields.activation)?, context.level, (fields.input, fields.output));
    let least = (LEAST, count(&window.kernel)?);
    images.rows(context, operands, places, least, |input, rows, output| {
        depthwise(level, window, *channels, input, weights, bias, activation, rows, output)
    })
}
