//! Sliding-window operators besides GEMM: depthwise convolution and pooling. Output rows are partitioned among tasks.

use core::ops::Range;

use et_core::{Error, Plain, Result};
use et_kernels::depthwise::{Requantization, depthwise, depthwise_bytes};
use et_kernels::pool::{Divisor, average_pool, average_pool_bytes, max_pool, max_pool_bytes};
use et_kernels::quantized::Quantization;
use et_kernels::window::{Image, Window};

use crate::memory::Operands;
use crate::run::conv2d::{activation, byte, byte_limits};
use crate::split::{self, Context, count};
use crate::{ActivationKind, Depthwise, Place, Pool, PoolKind, QParams};

/// The minimum multiply-accumulates of a task of a depthwise convolution, f32 and int8.
const LEAST: [usize; 2] = [1 << 15, 1 << 17];
/// The minimum elements of a task of pooling.
const LEAST_POOLED: usize = 1 << 12;

/// Executes a depthwise convolution.
pub fn depthwise_conv2d(context: &Context<'_, '_, '_>, fields: &Depthwise) -> Result<()> {
    match fields.input_qparams.is_int8() {
        false if cfg!(feature = "depthwise") => depthwise_f32(context, fields),
        true if cfg!(feature = "byte-depthwise") => depthwise_int8(context, fields),
        _ => Err(Error::NotSupported),
    }
}

fn depthwise_f32(context: &Context<'_, '_, '_>, fields: &Depthwise) -> Result<()> {
    let images = Images::of(&fields.window)?;
    let (level, mut operands) = (context.level, context.memory.operands());
    let weights = operands.read_all::<f32>(fields.weights)?;
    let bias = operands.read_all::<f32>(fields.bias)?;
    let activation = activation(&fields.activation);
    let (places, least) = ((fields.input, *fields.output), (LEAST[0], count(&images.window.kernel)?));
    images.rows(context, operands, places, least, |image| depthwise(level, image, weights, bias, activation))
}

fn depthwise_int8(context: &Context<'_, '_, '_>, fields: &Depthwise) -> Result<()> {
    let images = Images::of(&fields.window)?;
    let (level, mut operands) = (context.level, context.memory.operands());
    let weights = operands.read_all::<i8>(fields.weights)?;
    let bias = operands.read_all::<i32>(fields.bias)?;
    let to = requantization(fields, operands.read_all::<f32>(fields.scales)?)?;
    let zero_point = byte(fields.input_qparams.zero_point)?;
    let (places, least) = ((fields.input, *fields.output), (LEAST[1], count(&images.window.kernel)?));
    images.rows(context, operands, places, least, |image| depthwise_bytes(level, image, zero_point, weights, bias, to))
}

/// Requantization of the accumulators: after the activation, or with clamp limits in int8.
fn requantization<'m>(fields: &Depthwise, scale: &'m [f32]) -> Result<Requantization<'m>> {
    let qparams = &fields.output_qparams;
    let zero_point = i32::from(byte(qparams.zero_point)?);
    let range = byte_limits(&fields.activation, qparams);
    let hardswish = match fields.activation.kind {
        ActivationKind::Identity => None,
        ActivationKind::Hardswish => Some(1.0 / qparams.scale),
        _ => return Err(Error::InvalidProgram),
    };
    if qparams.is_int8() {
        Ok(Requantization { scale, zero_point, range, hardswish })
    } else {
        Err(Error::InvalidProgram)
    }
}

/// Executes max pooling or average pooling.
pub fn pool(context: &Context<'_, '_, '_>, fields: &Pool) -> Result<()> {
    let images = Images::of(&fields.window)?;
    let (level, operands) = (context.level, context.memory.operands());
    let (places, least) = ((fields.input, *fields.output), (LEAST_POOLED, 1));
    let taps = fields.window.kernel.map(|taps| taps as f32);
    let divisor = match fields.kind {
        PoolKind::Max => None,
        PoolKind::Average => Some(Divisor::Inside),
        PoolKind::AveragePadded => Some(Divisor::Fixed(taps[0] * taps[1])),
    };
    let qparams = quantization(fields.qparams);
    match (fields.qparams.is_int8(), divisor) {
        (false, None) if cfg!(feature = "pools") => {
            images.rows(context, operands, places, least, |image| max_pool(level, image))
        }
        (false, Some(divisor)) if cfg!(feature = "pools") => {
            images.rows(context, operands, places, least, |image| average_pool(level, image, divisor))
        }
        (true, None) if cfg!(feature = "byte-pools") => {
            images.rows(context, operands, places, least, |image| max_pool_bytes(level, image))
        }
        (true, Some(divisor)) if cfg!(feature = "byte-pools") => {
            images.rows(context, operands, places, least, |image| {
                average_pool_bytes(level, image, qparams, divisor, qparams)
            })
        }
        _ => Err(Error::NotSupported),
    }
}

/// The kernel's qparams.
pub const fn quantization(qparams: QParams) -> Quantization {
    Quantization { scale: qparams.scale, zero_point: qparams.zero_point }
}

/// NHWC tensors of a depthwise convolution or pooling: the input and the output have the same channels.
struct Images {
    window: Window,
    channels: usize,
    batch: usize,
    /// The elements of an input image, and of an output row.
    image: usize,
    width: usize,
}

impl Images {
    /// The NHWC shapes of a window. The kernels check them with the tensors.
    fn of(fields: &crate::Window) -> Result<Self> {
        let (batch, channels) = (fields.batch as usize, fields.input[2] as usize);
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

    /// Partitions the output rows of all images among tasks of at least `least` units; an element counts `of_element` units.
    /// `kernel` gets an image with a range of output rows. All other operands must be read before this call.
    fn rows<T: Plain + Send + Sync>(
        &self,
        context: &Context<'_, '_, '_>,
        mut operands: Operands<'_, '_, '_>,
        (input, output): (Place, Place),
        (least, of_element): (usize, usize),
        kernel: impl Fn(Image<'_, T>) -> Result<()> + Sync,
    ) -> Result<()> {
        let Self { window, channels, image, width, .. } = self;
        let height = window.output[0];
        let input = operands.read::<T>(input, count(&[self.batch, *image])?)?;
        let output = operands.write::<T>(output, count(&[self.batch, height, *width])?)?;
        let least = least / count(&[*width, of_element])?.max(1) + 1;
        split::runs(context, output, *width, least, |rows, output, _| {
            let mut done = 0;
            for (index, rows) in parts(rows, height) {
                let input = input.get(index * image..(index + 1) * image).ok_or(Error::InvalidProgram)?;
                let output = output.get_mut(done..done + rows.len() * width).ok_or(Error::InvalidProgram)?;
                done += output.len();
                kernel(Image { window, channels: *channels, input, rows, output })?;
            }
            Ok(())
        })
    }
}

/// Splits a range of output rows into ranges per image.
fn parts(rows: Range<usize>, height: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut start = rows.start;
    core::iter::from_fn(move || {
        let image = start.checked_div(height)?;
        let part = start..rows.end.min((image + 1) * height);
        start = part.end;
        (!part.is_empty()).then_some((image, part.start - image * height..part.end - image * height))
    })
}
