//! `f32` depthwise convolution.
#![allow(unsafe_code)] // Reads and writes through pointers that the convolution vouches for.

use core::ops::Range;

use et_core::Result;
use et_simd::{Activation, Float, Level, Simd, Work};

use super::arithmetic::{Arithmetic, To};
use super::convolve::{Tensors, convolve};
use super::pairs;
use crate::check::{ensure, product};
use crate::window::Window;

/// Convolves the output `rows` of an image `[rows, columns, channels]`. `weights` are `[rows, columns, channels]` of
/// the kernel, `bias` has an element per channel, and `output` holds only these rows.
#[allow(clippy::too_many_arguments)] // Three tensors, the geometry, and the share of the work.
#[inline]
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
    ensure(activation.is_cheap())?;
    let tensors = Tensors { window, channels, input, weights, rows, output };
    level.run(Depthwise { tensors, bias, activation });
    Ok(())
}

struct Depthwise<'a> {
    tensors: Tensors<'a, f32>,
    bias: &'a [f32],
    activation: Activation,
}

impl Work for Depthwise<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, isa: S) {
        let numbers = Numbers { isa, bias: self.bias, activation: self.activation };
        if !pairs::convolve(numbers, &mut self.tensors) {
            convolve(numbers, self.tensors);
        }
    }
}

/// `f32` multiply-adds.
#[derive(Clone, Copy)]
pub struct Numbers<'a, S> {
    /// The ISA.
    pub isa: S,
    bias: &'a [f32],
    activation: Activation,
}

impl<S: Simd> Arithmetic for Numbers<'_, S> {
    type Isa = S;
    type Number = f32;
    type Vector = S::F32;
    const TAPS: usize = 1;
    const PADDING_ADDS: bool = false;

    #[inline(always)]
    fn padding(self) -> f32 {
        0.0
    }
    #[inline(always)]
    fn empty(self) -> S::F32 {
        self.isa.splat(0.0)
    }
    #[inline(always)]
    unsafe fn shift_in<const N: usize>(self, _: S::F32, from: [*const f32; N]) -> S::F32 {
        // SAFETY: the caller guarantees valid pointers. The same argument holds for the methods below.
        unsafe { self.isa.read(from[N - 1]) }
    }
    #[inline(always)]
    fn weights(self, vector: S::F32) -> S::F32 {
        vector
    }
    #[inline(always)]
    unsafe fn read(self, from: *const u32) -> S::F32 {
        // SAFETY: as above.
        unsafe { self.isa.read(from.cast()) }
    }
    #[inline(always)]
    unsafe fn write(self, to: *mut u32, vector: S::F32) {
        // SAFETY: as above.
        unsafe { self.isa.write(to.cast(), vector) }
    }
    #[inline(always)]
    fn start(self, channel: usize, _: usize) -> S::F32 {
        self.isa.load(self.bias, channel)
    }
    #[inline(always)]
    fn less_padding(self, sum: S::F32, _: S::F32) -> S::F32 {
        sum
    }
    #[inline(always)]
    fn plus(self, left: S::F32, right: S::F32) -> S::F32 {
        left + right
    }
    #[inline(always)]
    fn add(self, sum: S::F32, numbers: S::F32, weights: S::F32) -> S::F32 {
        numbers.mul_add(weights, sum)
    }
    #[inline(always)]
    unsafe fn finish<const P: usize>(self, sums: [S::F32; P], count: usize, to: To<f32>) {
        // SAFETY: as above. The activation is selected once, outside the loop over pixels.
        unsafe {
            match self.activation {
                Activation::Clamp(low, high) => self.write_all(sums, Activation::Clamp(low, high), count, to),
                Activation::HardSwish => self.write_all(sums, Activation::HardSwish, count, to),
                _ => self.write_all(sums, Activation::None, count, to),
            }
        }
    }
}

impl<S: Simd> Numbers<'_, S> {
    /// Applies the activation to the accumulators of the first `count` pixels and stores the results.
    ///
    /// # Safety
    /// `to` has room for the pixels.
    #[inline(always)]
    unsafe fn write_all<const P: usize>(self, sums: [S::F32; P], activation: Activation, count: usize, to: To<f32>) {
        let isa = self.isa;
        // SAFETY: the caller guarantees room for the pixels.
        unsafe {
            if count >= P && to.lanes == S::LANES {
                for (index, sum) in sums.into_iter().enumerate() {
                    isa.write(to.pixel(index), activation.apply(isa, sum));
                }
                return;
            }
            for (index, sum) in sums.into_iter().enumerate() {
                if index < count && to.lanes == S::LANES {
                    isa.write(to.pixel(index), activation.apply(isa, sum));
                } else if index < count {
                    isa.write_part(to.pixel(index), to.lanes, activation.apply(isa, sum));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_close, numbers};
    use crate::window::test::{large_windows, windows};
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

    /// Geometries for row pairs: receptive fields below, above and between lines, with different vertical and
    /// horizontal sizes.
    fn wide() -> [Window; 6] {
        let window =
            Window { input: [3, 9], output: [6, 9], kernel: [3; 2], stride: [1; 2], padding: [2, 1], dilation: [1; 2] };
        [
            window,
            Window { output: [9, 9], padding: [4, 1], ..window },
            Window { input: [9, 9], output: [7, 9], kernel: [5, 3], padding: [1, 1], ..window },
            Window { input: [9, 11], output: [9, 11], kernel: [3, 5], padding: [1, 2], ..window },
            Window { input: [9, 9], output: [5, 9], stride: [2, 1], padding: [1, 1], ..window },
            Window { input: [11, 15], output: [3, 8], stride: [4, 2], padding: [1, 1], ..window },
        ]
    }

    #[test]
    fn it_is_a_sum_over_the_window() {
        for window in windows().into_iter().chain(large_windows()).chain(wide()) {
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
                    let none = Activation::None;
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
    fn rows_do_not_depend_on_those_beside_them() {
        for window in wide() {
            let channels = 40;
            let input = numbers(window.input[0] * window.input[1] * channels, 1);
            let weights = numbers(window.kernel[0] * window.kernel[1] * channels, 2);
            let bias = numbers(channels, 3);
            for level in Level::available() {
                let computed = |rows: Range<usize>| {
                    let mut output = vec![9.0; rows.len() * window.output[1] * channels];
                    let function = Activation::HardSwish;
                    depthwise(level, &window, channels, &input, &weights, &bias, function, rows, &mut output).unwrap();
                    output.into_iter().map(f32::to_bits).collect::<Vec<_>>()
                };
                let all = 0..window.output[0];
                let each: Vec<u32> = all.clone().flat_map(|row| computed(row..row + 1)).collect();
                assert!(computed(all) == each, "{window:?} {}", level.name());
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let window = windows()[0];
        let count = window.input[0] * window.input[1];
        let refused = |input: usize, weights: usize, rows: Range<usize>| {
            let (input, weights) = (vec![0.0; input], vec![0.0; weights]);
            let none = Activation::None;
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
