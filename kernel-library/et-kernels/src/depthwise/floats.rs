//! Depthwise convolution of numbers.
#![allow(unsafe_code)] // Tiles are read through pointers; bounds are checked once for a call.

use core::ops::Range;

use et_core::Result;
use et_simd::{Isa, Level, Work};

use super::accumulate::{Numbers, Product, Tensors, accumulate};
use crate::activation::Activation;
use crate::check::{ensure, product};
use crate::tile::{Pixels, Tile, row};
use crate::window::Window;

/// Convolves the `rows` of the output of an image `[rows, columns, channels]`. `weights` are `[rows, columns, channels]` of
/// the window, `bias` has a number for each channel, and `output` has those rows only.
#[allow(clippy::too_many_arguments)] // Three tensors, the geometry, and the share of the work.
pub fn depthwise(
    level: Level,
    window: &Window,
    channels: usize,
    input: &[f32],
    weights: &[f32],
    bias: &[f32],
    activation: Activation,
    rows: Range<usize>,
    output: &mut [f32],
) -> Result<()> {
    window.check(channels, input.len(), &rows, output.len())?;
    ensure(product(&[window.kernel[0], window.kernel[1], channels])? == weights.len() && bias.len() == channels)?;
    level.run(Depthwise { window, channels, input, weights, bias, activation, rows, output });
    Ok(())
}

struct Depthwise<'a> {
    window: &'a Window,
    channels: usize,
    input: &'a [f32],
    weights: &'a [f32],
    bias: &'a [f32],
    activation: Activation,
    rows: Range<usize>,
    output: &'a mut [f32],
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
        let mut sums = [[isa.splat(0.0); N]; P];
        // SAFETY: sizes were checked to fit the window, and the caller vouches for the rest.
        unsafe {
            for vector in 0..N {
                let bias = Product::<S>::read(Numbers, isa, self.bias.as_ptr().add(channel + vector * S::LANES), lanes);
                for sum in &mut sums {
                    sum[vector] = bias;
                }
            }
            let tensors = Tensors { window, channels, input: self.input.as_ptr(), weights: self.weights.as_ptr() };
            accumulate::<S, _, P, N>(isa, Numbers, tensors, pixels, channel, lanes, &mut sums);
            let first = (pixels.row - self.rows.start) * window.output[1] + pixels.column;
            for (pixel, sums) in sums.iter().enumerate() {
                let to = self.output.as_mut_ptr().add((first + pixel) * channels + channel);
                for (vector, sum) in sums.iter().enumerate() {
                    let (to, result) = (to.add(vector * S::LANES), self.activation.apply(isa, *sum));
                    if lanes == S::LANES { isa.write(to, result) } else { isa.write_part(to, lanes, result) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_close, numbers};
    use crate::window::test::windows;
    use std::vec;
    use std::vec::Vec;

    fn plain(window: &Window, channels: usize, input: &[f32], weights: &[f32], bias: &[f32]) -> Vec<f64> {
        let mut output = Vec::new();
        for row in 0..window.output[0] {
            for column in 0..window.output[1] {
                for channel in 0..channels {
                    let taps = window.plain_taps(row, column);
                    let products = taps.map(|(tap, pixel)| {
                        f64::from(input[pixel * channels + channel]) * f64::from(weights[tap * channels + channel])
                    });
                    output.push(products.sum::<f64>() + f64::from(bias[channel]));
                }
            }
        }
        output
    }

    #[test]
    fn it_is_a_sum_over_the_window() {
        for window in windows() {
            for channels in [1, 3, 8, 16, 17, 40, 72, 100] {
                let input = numbers(window.input[0] * window.input[1] * channels, 1);
                let weights = numbers(window.kernel[0] * window.kernel[1] * channels, 2);
                let bias = numbers(channels, 3);
                let expected = plain(&window, channels, &input, &weights, &bias);
                let clamped: Vec<f64> = expected.iter().map(|number| number.clamp(0.0, 1.0)).collect();
                for level in Level::available() {
                    let what = std::format!("{window:?} {channels} {}", level.name());
                    let mut output = vec![9.0; expected.len()];
                    let all = 0..window.output[0];
                    let none = Activation::Identity;
                    depthwise(level, &window, channels, &input, &weights, &bias, none, all, &mut output).unwrap();
                    assert_close(&what, &output, &expected, 1e-5);
                    let last = window.output[0] / 2..window.output[0];
                    let mut part = vec![9.0; last.len() * window.output[1] * channels];
                    let clamp = Activation::Clamp(0.0, 1.0);
                    depthwise(level, &window, channels, &input, &weights, &bias, clamp, last, &mut part).unwrap();
                    assert_close(&what, &part, &clamped[clamped.len() - part.len()..], 1e-5);
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let window = windows()[0];
        let count = window.input[0] * window.input[1];
        let refused = |input: usize, weights: usize, rows: Range<usize>| {
            let (input, weights) = (vec![0.0; input], vec![0.0; weights]);
            let none = Activation::Identity;
            let mut output = vec![0.0; window.output[0] * window.output[1]];
            depthwise(Level::Portable, &window, 1, &input, &weights, &[0.0], none, rows, &mut output).is_err()
        };
        let taps = window.kernel[0] * window.kernel[1];
        assert!(!refused(count, taps, 0..window.output[0]));
        assert!(refused(count + 1, taps, 0..window.output[0]));
        assert!(refused(count, taps + 1, 0..window.output[0]));
        assert!(refused(count, taps, 0..window.output[0] - 1));
        assert!(refused(count, taps, 1..window.output[0] + 1));
    }
}
