//! Convolutions of integers.

use et_qnn::build::Quantization;
use etbuild_backend::{Refusal, RefusalKind};

use crate::program::{Operation, Parameter, Tensor, width};

use super::fixed_point::Rescale;
use super::step::{Elements, Step, malformed, qparams};

/// The sizes of a convolution.
struct Window {
    /// Height, width and channels of the operand.
    from: [usize; 3],
    /// Height, width and channels of the result.
    to: [usize; 3],
    /// Height and width of the kernel, and the input channels of a group.
    kernel: [usize; 3],
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
}

/// A convolution, grouped or depthwise, of an image with channels last and weights `[height][width][inner][out]`.
pub fn convolution(step: &Step<'_>) -> Result<Elements, Refusal> {
    let (sums, channels) = sums(step)?;
    let zero = qparams(step.output()).map_or(0, |output| output.zero);
    let is_exact = width(step.output().data_type) > 1 || moves_apart(step.operation);
    Ok(step.saturated(each(&sums, &channels).map(|(sum, channel)| channel.result(*sum, is_exact) + zero)))
}

/// Whether an operation is a depthwise convolution with a stride, which the NPU computes elsewhere than other convolutions.
pub fn moves_apart(operation: &Operation) -> bool {
    let is_unit = |parameter: &Parameter| matches!(parameter, Parameter::Integers(_, strides) if *strides == [1, 1]);
    let mut strides = operation.parameters.iter().filter(|(name, _)| name == "stride");
    operation.type_name == "DepthWiseConv2d" && strides.any(|(_, parameter)| !is_unit(parameter))
}

/// The real numbers that a convolution computes, without rounding.
pub fn real_numbers(step: &Step<'_>) -> Result<Vec<f64>, Refusal> {
    let (sums, channels) = sums(step)?;
    let scale = qparams(step.output()).map_or(1.0, |output| output.scale);
    Ok(each(&sums, &channels).map(|(sum, channel)| (sum + channel.bias) as f64 * channel.factor * scale).collect())
}

/// The sums of products with their channels.
fn each<'s>(sums: &'s [i64], channels: &'s [Channel]) -> impl Iterator<Item = (&'s i64, &'s Channel)> {
    sums.chunks(channels.len().max(1)).flat_map(move |pixel| pixel.iter().zip(channels))
}

/// The sums of products without the bias, and what becomes of them by channel.
fn sums(step: &Step<'_>) -> Result<(Vec<i64>, Vec<Channel>), Refusal> {
    let (Some(input), Some(output)) = (qparams(step.tensor(0)?), qparams(step.output())) else {
        return Err(Refusal::new(RefusalKind::Type, "the simulation of the NPU lacks convolutions in fp16"));
    };
    let window = window(step)?;
    let (scales, weights) = weights(step.tensor(1)?, step.integers(1)?)?;
    let bias = if step.operation.inputs.len() > 2 { step.integers(2)? } else { vec![0; scales.len()] };
    if bias.len() != window.to[2] || scales.len() != window.to[2] {
        return Err(malformed());
    }
    let image: Vec<i64> = step.integers(0)?.into_iter().map(|integer| i64::from(integer) - input.zero).collect();
    let channels = scales.iter().zip(&bias);
    let channels =
        channels.map(|(scale, bias)| Channel::of(input.scale * scale / output.scale, i64::from(*bias))).collect();
    Ok((window.accumulators(&image, &weights), channels))
}

/// The rescaling of an output channel.
struct Channel {
    bias: i64,
    factor: f64,
    rescale: Rescale,
}

impl Channel {
    fn of(factor: f64, bias: i64) -> Self {
        Self { bias, factor, rescale: Rescale::of(factor) }
    }

    fn result(&self, sum: i64, is_exact: bool) -> i64 {
        let accumulator = sum + self.bias;
        if is_exact { (accumulator as f64 * self.factor + 0.5).floor() as i64 } else { self.rescale.apply(accumulator) }
    }
}

/// The scale of each output channel, and the weights in multiples of it.
fn weights(tensor: &Tensor, integers: Vec<i32>) -> Result<(Vec<f64>, Vec<i32>), Refusal> {
    let out = tensor.sizes.last().copied().unwrap_or(1) as usize;
    match &tensor.quantization {
        Quantization::Tensor(each) => Ok((vec![f64::from(each.scale); out], integers)),
        Quantization::Axis { scales, .. } => Ok((scales.iter().map(|each| f64::from(each.scale)).collect(), integers)),
        Quantization::NarrowAxis { scales, .. } => Ok((scales.iter().copied().map(f64::from).collect(), integers)),
        Quantization::Blocks { scales, multiples, .. } => {
            let (rows, blocks) = (integers.len() / out.max(1), multiples.len() / out.max(1));
            let block = |row: usize| row * blocks / rows.max(1);
            let multiple = |place: usize| multiples.get(place % out * blocks + block(place / out)).copied();
            let scaled =
                integers.iter().enumerate().map(|(place, integer)| Some(integer * i32::from(multiple(place)?)));
            let scaled = scaled.collect::<Option<_>>().ok_or_else(malformed)?;
            Ok((scales.iter().map(|each| f64::from(each.scale)).collect(), scaled))
        }
        Quantization::None => Err(malformed()),
    }
}

fn window(step: &Step<'_>) -> Result<Window, Refusal> {
    let image = |tensor: &Tensor| match tensor.sizes[..] {
        [1, height, width, channels] => Ok([height, width, channels].map(|size| size as usize)),
        _ => Err(Refusal::new(RefusalKind::Shape, "the simulation of the NPU lacks batches of images")),
    };
    let [height, width, inner, _] = step.tensor(1)?.sizes[..] else { return Err(malformed()) };
    let pair = |name: &str, positions: [usize; 2]| {
        let numbers = step.sizes(name);
        Some([*numbers.get(positions[0])?, *numbers.get(positions[1])?])
    };
    Ok(Window {
        from: image(step.tensor(0)?)?,
        to: image(step.output())?,
        kernel: [height, width, inner].map(|size| size as usize),
        stride: pair("stride", [0, 1]).ok_or_else(malformed)?,
        padding: pair("pad_amount", [0, 2]).ok_or_else(malformed)?,
        dilation: pair("dilation", [0, 1]).unwrap_or([1, 1]),
    })
}

impl Window {
    /// The sums of products, `[height][width][out]`.
    fn accumulators(&self, image: &[i64], weights: &[i32]) -> Vec<i64> {
        let [height, width, out] = self.to;
        let mut sums = vec![0; height * width * out];
        for (pixel, sums) in sums.chunks_mut(out.max(1)).enumerate() {
            let place = [pixel / width, pixel % width];
            for tap in 0..self.kernel[0] * self.kernel[1] {
                if let Some(from) = self.source(place, [tap / self.kernel[1], tap % self.kernel[1]]) {
                    let channels = &image[from * self.from[2]..][..self.from[2]];
                    self.add(sums, channels, &weights[tap * self.kernel[2] * out..][..self.kernel[2] * out]);
                }
            }
        }
        sums
    }

    /// The pixel of the operand that a tap of the kernel reads; `None` for padding, which is 0.
    fn source(&self, place: [usize; 2], tap: [usize; 2]) -> Option<usize> {
        let at = |axis: usize| {
            let reached = place[axis] * self.stride[axis] + tap[axis] * self.dilation[axis];
            reached.checked_sub(self.padding[axis]).filter(|position| *position < self.from[axis])
        };
        Some(at(0)? * self.from[1] + at(1)?)
    }

    /// Adds the products of a pixel's channels with weights `[inner][out]`.
    fn add(&self, sums: &mut [i64], channels: &[i64], weights: &[i32]) {
        let (out, inner) = (self.to[2], self.kernel[2]);
        let group = out / (self.from[2] / inner.max(1)).max(1);
        for (row, weights) in weights.chunks(out).enumerate() {
            for (channel, (sum, weight)) in sums.iter_mut().zip(weights).enumerate() {
                *sum += channels[channel / group.max(1) * inner + row] * i64::from(*weight);
            }
        }
    }
}
