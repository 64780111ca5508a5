//! The weights of depthwise convolutions, and what int8 products multiply and add by channel.

use et_cpu::{QParams, Window};
use etbuild_backend::ByteWeights;
use etbuild_weights::transposed::transpose;

use crate::Problem;

/// The bytes of weights `[channels, 1, height, width]` of a convolution of each channel by itself, as `[height, width, channels]`.
pub fn depthwise(weights: &[u8], size: usize, window: &Window) -> Result<Vec<u8>, Problem> {
    let (channels, taps) = (window.output[2] as usize, (window.kernel[0] * window.kernel[1]) as usize);
    let stored = weights.get(..channels * taps * size).ok_or(Problem::Weights)?;
    let mut turned = Vec::with_capacity(stored.len());
    transpose(stored, [channels, taps], size, &mut turned);
    Ok(turned)
}

/// The int32 bias of a channel in units of the channel's accumulator scale.
pub fn int32_bias(bias: &[f32], scales: &[f32]) -> Vec<i32> {
    let bias = |channel: usize| f64::from(bias.get(channel).copied().unwrap_or(0.0));
    let quantized = |(channel, scale): (usize, &f32)| (bias(channel) / f64::from(*scale)).round_ties_even() as i32;
    scales.iter().enumerate().map(quantized).collect()
}

/// The scales of int32 accumulators, by channel.
pub fn accumulator_scales(weights: &ByteWeights, input: QParams) -> Vec<f32> {
    weights.scales.iter().map(|scale| scale * input.scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_neighbours_in_depthwise_weights() {
        let window = Window { output: [1, 1, 2], kernel: [1, 3], ..Window::default() };
        assert_eq!(depthwise(&[1, 2, 3, 4, 5, 6], 1, &window), Ok(vec![1, 4, 2, 5, 3, 6]));
        assert_eq!(depthwise(&[0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6], 2, &window).unwrap()[..4], [0, 1, 0, 4]);
        assert_eq!(depthwise(&[1; 5], 1, &window), Err(Problem::Weights));
    }
}
