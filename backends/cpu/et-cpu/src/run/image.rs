//! Pooling, and means over the middle dimension.

use et_core::{Error, Result};
use et_kernels::pool::{Divisor, average_pool, average_pool_bytes, max_pool, max_pool_bytes};
use et_kernels::quantized::Quantization;
use et_kernels::reduce::{Reduction, reduce};
use et_kernels::window::Window;

use crate::run::Context;
use crate::run::images::{Images, count};
use crate::{Mean, Pool, QParams};

/// The minimum elements of a task.
const LEAST: usize = 1 << 12;

/// Max pooling or average pooling: output rows are partitioned among tasks.
pub fn pool(context: &Context<'_, '_, '_>, fields: &Pool) -> Result<()> {
    let images = Images::of(&fields.window)?;
    let Images { window, channels, .. } = &images;
    let (level, operands, places) = (context.level, context.memory.operands(), (fields.input, *fields.output));
    let (numbers, least) = (quantization(fields.qparams), (LEAST, 1));
    match (fields.qparams.is_int8(), divisor(fields)?) {
        (false, None) => images.rows(context, operands, places, least, |input, rows, output| {
            max_pool(level, window, *channels, input, rows, output)
        }),
        (false, Some(divisor)) => images.rows(context, operands, places, least, |input, rows, output| {
            average_pool(level, window, *channels, input, divisor, rows, output)
        }),
        (true, None) => images.rows(context, operands, places, least, |input, rows, output| {
            max_pool_bytes(level, window, *channels, input, rows, output)
        }),
        (true, Some(divisor)) => images.rows(context, operands, places, least, |input, rows, output| {
            average_pool_bytes(level, window, *channels, input, numbers, divisor, numbers, rows, output)
        }),
    }
}

/// The divisor of average pooling; `None` for max pooling.
fn divisor(fields: &Pool) -> Result<Option<Divisor>> {
    let taps = fields.window.kernel.map(|taps| taps as f32);
    match fields.kind {
        0 => Ok(None),
        1 => Ok(Some(Divisor::Inside)),
        2 => Ok(Some(Divisor::Fixed(taps[0] * taps[1]))),
        _ => Err(Error::InvalidProgram),
    }
}

/// The kernel's qparams.
const fn quantization(qparams: QParams) -> Quantization {
    Quantization { scale: qparams.scale, zero_point: qparams.zero_point }
}

/// The mean over the middle dimension.
pub fn mean(context: &Context<'_, '_, '_>, fields: &Mean) -> Result<()> {
    let [outer, reduced, inner] = fields.sizes.map(|size| size as usize);
    let (elements, means) = (count(&[outer, reduced, inner])?, count(&[outer, inner])?);
    let mut operands = context.memory.operands();
    if fields.from.is_int8() {
        let input = operands.read::<i8>(fields.input, elements)?;
        let output = operands.write::<i8>(*fields.output, means)?.slice();
        return mean_of_bytes(context, fields, input, output);
    }
    let input = operands.read::<f32>(fields.input, elements)?;
    let output = operands.write::<f32>(*fields.output, means)?.slice();
    reduce(context.level, Reduction::Mean, input, [outer, reduced, inner], output)
}

/// The int8 mean: average pooling with a window of the image's shape.
fn mean_of_bytes(context: &Context<'_, '_, '_>, fields: &Mean, input: &[i8], output: &mut [i8]) -> Result<()> {
    let [_, reduced, inner] = fields.sizes.map(|size| size as usize);
    let (from, to) = (quantization(fields.from), quantization(fields.to));
    let (image, divisor) = ([1, reduced], Divisor::Fixed(reduced as f32));
    let window =
        Window { input: image, output: [1, 1], kernel: image, stride: [1, 1], padding: [0, 0], dilation: [1, 1] };
    for (input, output) in input.chunks_exact((reduced * inner).max(1)).zip(output.chunks_exact_mut(inner.max(1))) {
        average_pool_bytes(context.level, &window, inner, input, from, divisor, to, 0..1, output)?;
    }
    Ok(())
}
