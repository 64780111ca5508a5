//! Convolutions of integers, and of numbers in fp16.

use et_qnn::build::Quantization;
use etbuild_backend::Refusal;

use crate::program::{Operation, Parameter, Tensor, width};

use super::fixed_point::Rescale;
use super::step::{Elements, Step, malformed, qparams};
use super::window::window;

/// A convolution, grouped or depthwise, of an image with channels last and weights `[height][width][inner][out]`.
pub fn convolution(step: &Step<'_>) -> Result<Elements, Refusal> {
    if qparams(step.output()).is_none() {
        return of_numbers(step);
    }
    let (sums, channels) = sums(step)?;
    let zero = qparams(step.output()).map_or(0, |output| output.zero);
    let result = match width(step.output().data_type) {
        _ if moves_apart(step.operation) => Channel::exact,
        1 => Channel::of_bytes,
        _ => Channel::of_words,
    };
    Ok(step.saturated(each(&sums, &channels).map(|(sum, channel)| result(channel, *sum) + zero)))
}

/// A convolution in fp16, whose sums are rounded once.
fn of_numbers(step: &Step<'_>) -> Result<Elements, Refusal> {
    let window = window(step)?;
    let out = window.to[2];
    let bias = if step.operation.inputs.len() > 2 { step.numbers(2)? } else { vec![0.0; out] };
    if bias.len() != out {
        return Err(malformed());
    }
    let sums = window.accumulators(&step.numbers(0)?, &step.numbers(1)?);
    Ok(step.rounded(sums.iter().zip(bias.iter().cycle()).map(|(sum, bias)| sum + bias)))
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
        return Err(malformed());
    };
    let window = window(step)?;
    let (scales, weights) = weights(step.tensor(1)?, step.integers(1)?)?;
    let bias = if step.operation.inputs.len() > 2 { step.integers(2)? } else { vec![0; scales.len()] };
    if bias.len() != window.to[2] || scales.len() != window.to[2] {
        return Err(malformed());
    }
    let image: Vec<i64> = step.integers(0)?.into_iter().map(|integer| integer - input.zero).collect();
    let mut totals = vec![0; scales.len()];
    for row in weights.chunks(totals.len().max(1)) {
        totals.iter_mut().zip(row).for_each(|(total, weight)| *total += weight);
    }
    let channel = |number: usize| {
        let factor = input.scale * scales[number] / output.scale;
        let of_zero = input.zero * totals[number];
        Channel { bias: bias[number], factor, rescale: Rescale::of(factor), of_zero }
    };
    Ok((window.accumulators(&image, &weights), (0..scales.len()).map(channel).collect()))
}

/// The rescaling of an output channel.
struct Channel {
    bias: i64,
    factor: f64,
    rescale: Rescale,
    /// The sum of products for an operand whose integers are the zero point.
    of_zero: i64,
}

/// The bits that accumulators of 16-bit operands lose.
const LOST: i32 = 8;

impl Channel {
    fn exact(&self, sum: i64) -> i64 {
        ((sum + self.bias) as f64 * self.factor + 0.5).floor() as i64
    }

    fn of_bytes(&self, sum: i64) -> i64 {
        self.rescale.apply(sum + self.bias)
    }

    /// The sum of products of the integers themselves is cut; what the zero point and the bias add is rounded.
    fn of_words(&self, sum: i64) -> i64 {
        let unit = f64::from(1 << LOST);
        let offset = ((self.bias - self.of_zero) as f64 / unit).round_ties_even();
        let kept = ((sum + self.of_zero) >> LOST) as f64 + offset;
        (kept * unit * self.factor + 0.5).floor() as i64
    }
}

/// The scale of each output channel, and the weights in multiples of it.
fn weights(tensor: &Tensor, mut integers: Vec<i64>) -> Result<(Vec<f64>, Vec<i64>), Refusal> {
    let out = tensor.sizes.last().map_or(1, |size| *size as usize).max(1);
    match &tensor.quantization {
        Quantization::Tensor(each) => Ok((vec![f64::from(each.scale); out], integers)),
        Quantization::Axis { scales, .. } => Ok((scales.iter().map(|each| f64::from(each.scale)).collect(), integers)),
        Quantization::NarrowAxis { scales, .. } => Ok((scales.iter().copied().map(f64::from).collect(), integers)),
        Quantization::Blocks { scales, multiples, .. } => {
            let (rows, blocks) = ((integers.len() / out).max(1), (multiples.len() / out).max(1));
            for (number, row) in integers.chunks_mut(out).enumerate() {
                let multiples = multiples.iter().skip(number * blocks / rows).step_by(blocks);
                row.iter_mut().zip(multiples).for_each(|(weight, multiple)| *weight *= i64::from(*multiple));
            }
            Ok((scales.iter().map(|each| f64::from(each.scale)).collect(), integers))
        }
        Quantization::None => Err(malformed()),
    }
}
