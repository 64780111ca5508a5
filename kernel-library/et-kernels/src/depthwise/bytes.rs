//! Depthwise convolution of bytes: integer sums, and results as bytes again.
#![allow(unsafe_code)] // Tiles are read through pointers; bounds are checked once for a call.

use core::ops::Range;

use et_core::Result;
use et_simd::{Integer, Isa, Level, Work};

use super::accumulate::{Bytes, Tensors, accumulate};
use crate::activation::Activation;
use crate::check::{ensure, product};
use crate::quantized::Rescale;
use crate::tile::{Pixels, Tile, row};
use crate::window::Window;

/// How sums become bytes.
#[derive(Clone, Copy, Debug)]
pub struct Requantization<'a> {
    /// For each channel: input scale times weight scale, divided by output scale; not divided where there is a function.
    pub scale: &'a [f32],
    /// The output byte that is 0.
    pub zero_point: i32,
    /// The least and the greatest byte, as an activation wants them.
    pub range: [i8; 2],
    /// One divided by the output scale, where numbers go through `x * clamp(x + 3, 0, 6) / 6` before they become bytes.
    pub hardswish: Option<f32>,
}

/// For each channel, `bias` less `zero_point` times the sum of the channel's weights: what sums of bytes times weights
/// start at where the window has all its taps. Computed when weights are packed.
pub fn zero_point_sums(weights: &[i8], bias: &[i32], zero_point: i32, sums: &mut [i32]) -> Result<()> {
    let channels = bias.len();
    ensure(channels > 0 && sums.len() == channels && weights.len().is_multiple_of(channels))?;
    sums.copy_from_slice(bias);
    for tap in weights.chunks_exact(channels) {
        for (sum, weight) in sums.iter_mut().zip(tap) {
            *sum = sum.wrapping_sub(zero_point.wrapping_mul(i32::from(*weight)));
        }
    }
    Ok(())
}

/// Convolves the `rows` of the output of an image `[rows, columns, channels]`, as [`super::depthwise`]. `zero_point` is the
/// input byte that is 0; `bias` counts in input scale times weight scale; `sums` are [`zero_point_sums`].
#[allow(clippy::too_many_arguments)] // Four tensors, the geometry, and the share of the work.
pub fn depthwise_bytes(
    level: Level,
    window: &Window,
    channels: usize,
    input: &[i8],
    zero_point: i32,
    weights: &[i8],
    bias: &[i32],
    sums: &[i32],
    requantization: Requantization,
    rows: Range<usize>,
    output: &mut [i8],
) -> Result<()> {
    window.check(channels, input.len(), &rows, output.len())?;
    ensure(product(&[window.kernel[0], window.kernel[1], channels])? == weights.len())?;
    ensure(bias.len() == channels && sums.len() == channels && requantization.scale.len() == channels)?;
    level.run(Depthwise { window, channels, input, zero_point, weights, bias, sums, requantization, rows, output });
    Ok(())
}

struct Depthwise<'a> {
    window: &'a Window,
    channels: usize,
    input: &'a [i8],
    zero_point: i32,
    weights: &'a [i8],
    bias: &'a [i32],
    sums: &'a [i32],
    requantization: Requantization<'a>,
    rows: Range<usize>,
    output: &'a mut [i8],
}

impl Work for Depthwise<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Isa>(mut self, isa: S) {
        let (window, channels) = (self.window, self.channels);
        for index in self.rows.clone() {
            row(isa, &mut self, window, channels, index);
        }
    }
}

impl<S: Isa> Tile<S> for Depthwise<'_> {
    const TAKES_BORDERS: bool = true;

    #[inline(always)]
    fn vectors<const P: usize, const N: usize>(&mut self, isa: S, pixels: &Pixels, channel: usize) {
        // SAFETY: the channels are there.
        unsafe { self.tile::<S, P, N>(isa, pixels, channel, S::LANES) };
    }
    #[inline(always)]
    fn rest<const P: usize>(&mut self, isa: S, pixels: &Pixels, channel: usize) {
        // SAFETY: the channels are there.
        unsafe { self.tile::<S, P, 1>(isa, pixels, channel, self.channels - channel) };
    }
}

impl Depthwise<'_> {
    /// # Safety
    /// `N` vectors, or `lanes` channels, from `channel` on are there; the taps of the pixels are within the image.
    #[inline(always)]
    unsafe fn tile<S: Isa, const P: usize, const N: usize>(
        &mut self,
        isa: S,
        pixels: &Pixels,
        channel: usize,
        lanes: usize,
    ) {
        let (window, channels) = (self.window, self.channels);
        // Taps outside of the image are 0, not the zero point, so that theirs must not be subtracted.
        let (start, zero_point) = if pixels.whole { (self.sums, 0) } else { (self.bias, self.zero_point) };
        let zero_point = isa.splat_i32(zero_point);
        let mut sums = [[isa.splat_i32(0); N]; P];
        // SAFETY: sizes were checked to fit the window, and the caller vouches for the rest.
        unsafe {
            for vector in 0..N {
                let start = read_i32(isa, start.as_ptr().add(channel + vector * S::LANES), lanes);
                for sum in &mut sums {
                    sum[vector] = start;
                }
            }
            let tensors = Tensors { window, channels, input: self.input.as_ptr(), weights: self.weights.as_ptr() };
            accumulate::<S, _, P, N>(isa, Bytes(zero_point), tensors, pixels, channel, lanes, &mut sums);
            self.store(isa, &sums, pixels, channel, lanes);
        }
    }

    /// # Safety
    /// As for [`Self::tile`].
    #[inline(always)]
    unsafe fn store<S: Isa, const P: usize, const N: usize>(
        &mut self,
        isa: S,
        sums: &[[S::I32; N]; P],
        pixels: &Pixels,
        channel: usize,
        lanes: usize,
    ) {
        let Requantization { scale, zero_point, range, hardswish } = self.requantization;
        let rescale = Rescale::new(isa, 1.0, zero_point, range);
        let first = (pixels.row - self.rows.start) * self.window.output[1] + pixels.column;
        for vector in 0..N {
            let channel = channel + vector * S::LANES;
            let scale = isa.load(scale, channel);
            for (pixel, sums) in sums.iter().enumerate() {
                let number = sums[vector].to_float() * scale;
                let bytes = rescale.bytes(match hardswish {
                    None => number,
                    Some(inverse) => Activation::Hardswish.apply(isa, number) * isa.splat(inverse),
                });
                // SAFETY: the pixel's channels are within the output.
                unsafe {
                    let to = self.output.as_mut_ptr().add((first + pixel) * self.channels + channel);
                    if lanes == S::LANES { isa.write_i8(to, bytes) } else { isa.write_i8_part(to, lanes, bytes) }
                }
            }
        }
    }
}

/// # Safety
/// There are `lanes` integers.
#[inline(always)]
unsafe fn read_i32<S: Isa>(isa: S, from: *const i32, lanes: usize) -> S::I32 {
    // SAFETY: the caller says so.
    unsafe {
        if lanes == S::LANES {
            return isa.read_i32(from);
        }
        let mut integers = [0; 16];
        for (lane, integer) in integers.iter_mut().enumerate().take(lanes) {
            *integer = *from.add(lane);
        }
        isa.read_i32(integers.as_ptr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_nearly_equal, bytes, numbers};
    use crate::window::test::windows;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn it_is_a_sum_over_the_window_as_bytes() {
        const ZERO_POINTS: [i32; 2] = [-11, 5];
        for window in windows() {
            for channels in [1, 3, 8, 16, 17, 40, 72, 100] {
                let input = bytes(window.input[0] * window.input[1] * channels, 1);
                let weights = bytes(window.kernel[0] * window.kernel[1] * channels, 2);
                let bias: Vec<i32> = numbers(channels, 3).iter().map(|number| (number * 3000.0) as i32).collect();
                let scale: Vec<f32> = numbers(channels, 4).iter().map(|number| number.abs() * 0.003 + 1e-4).collect();
                let mut expected = Vec::new();
                for pixel in 0..window.output[0] * window.output[1] {
                    for channel in 0..channels {
                        let taps = window.plain_taps(pixel / window.output[1], pixel % window.output[1]);
                        let products = taps.map(|(tap, pixel)| {
                            let byte = i32::from(input[pixel * channels + channel]) - ZERO_POINTS[0];
                            byte * i32::from(weights[tap * channels + channel])
                        });
                        let sum = f64::from(products.sum::<i32>() + bias[channel]) * f64::from(scale[channel]);
                        let byte = sum.round_ties_even() + f64::from(ZERO_POINTS[1]);
                        expected.push(byte.clamp(5.0, 100.0) as i8);
                    }
                }
                let mut sums = vec![0; channels];
                zero_point_sums(&weights, &bias, ZERO_POINTS[0], &mut sums).unwrap();
                let requantization =
                    Requantization { scale: &scale, zero_point: ZERO_POINTS[1], range: [5, 100], hardswish: None };
                for level in Level::available() {
                    let what = std::format!("{window:?} {channels} {}", level.name());
                    let middle = window.output[0] / 2;
                    let mut output = vec![0; expected.len()];
                    let (first, last) = output.split_at_mut(middle * window.output[1] * channels);
                    for (rows, output) in [(0..middle, first), (middle..window.output[0], last)] {
                        depthwise_bytes(
                            level,
                            &window,
                            channels,
                            &input,
                            ZERO_POINTS[0],
                            &weights,
                            &bias,
                            &sums,
                            requantization,
                            rows,
                            output,
                        )
                        .unwrap();
                    }
                    assert_nearly_equal(&what, &output, &expected);
                }
            }
        }
    }
}
