//! int8 pooling.
#![allow(unsafe_code)] // Elements are read and written through pointers.

use core::ops::Range;

use et_core::Result;
use et_simd::{Integer, Level, Simd};

use super::Divisor;
use super::run::{Reduction, pool};
use crate::quantized::{ALL, Quantization, Rescale};
use crate::window::Window;

/// int8 max pooling, as [`super::max_pool`]; the output has the qparams of the input.
#[inline]
pub fn max_pool_bytes(
    level: Level,
    window: &Window,
    channels: usize,
    input: &[i8],
    rows: Range<usize>,
    output: &mut [i8],
) -> Result<()> {
    pool(level, Max, window, channels, input, rows, output)
}

/// int8 average pooling, as [`super::average_pool`].
#[allow(clippy::too_many_arguments)] // Two tensors with qparams, the geometry, and the share of the work.
#[inline]
pub fn average_pool_bytes(
    level: Level,
    window: &Window,
    channels: usize,
    input: &[i8],
    from: Quantization,
    divisor: Divisor,
    to: Quantization,
    rows: Range<usize>,
    output: &mut [i8],
) -> Result<()> {
    pool(level, Mean { from, divisor, to }, window, channels, input, rows, output)
}

/// The maximum.
#[derive(Clone, Copy)]
struct Max;

impl Reduction for Max {
    type Element = i8;
    type Sum<S: Simd> = S::I32;

    #[inline(always)]
    fn start<S: Simd>(self, isa: S) -> S::I32 {
        isa.splat_i32(-128)
    }
    #[inline(always)]
    unsafe fn add<S: Simd>(self, isa: S, sum: S::I32, from: *const i8, lanes: usize) -> S::I32 {
        // SAFETY: the caller guarantees `lanes` elements.
        sum.max(unsafe { isa.read_i8_part(from, lanes) })
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(self, isa: S, sum: S::I32, _: usize, to: *mut i8, lanes: usize) {
        // SAFETY: the caller guarantees room for `lanes` elements.
        unsafe { isa.write_i8_part(to, lanes, sum) }
    }
}

/// The mean, requantized.
#[derive(Clone, Copy)]
struct Mean {
    from: Quantization,
    divisor: Divisor,
    to: Quantization,
}

impl Reduction for Mean {
    type Element = i8;
    type Sum<S: Simd> = S::I32;

    #[inline(always)]
    fn start<S: Simd>(self, isa: S) -> S::I32 {
        isa.splat_i32(0)
    }
    #[inline(always)]
    unsafe fn add<S: Simd>(self, isa: S, sum: S::I32, from: *const i8, lanes: usize) -> S::I32 {
        // SAFETY: the caller guarantees `lanes` elements.
        sum + unsafe { isa.read_i8_part(from, lanes) }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(self, isa: S, sum: S::I32, inside: usize, to: *mut i8, lanes: usize) {
        let Self { from, divisor, to: qparams } = self;
        let offset = isa.splat(inside as f32 * from.zero_point as f32);
        let factor = from.scale / qparams.scale / divisor.of(inside);
        let bytes = Rescale::new(isa, factor, qparams.zero_point, ALL).bytes(sum.to_float() - offset);
        // SAFETY: the caller guarantees room for `lanes` elements.
        unsafe { isa.write_i8_part(to, lanes, bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_nearly_equal, bytes};
    use crate::window::test::windows;
    use std::vec;
    use std::vec::Vec;

    const FROM: Quantization = Quantization { scale: 0.031, zero_point: 9 };
    const TO: Quantization = Quantization { scale: 0.027, zero_point: -20 };

    #[test]
    fn windows_have_greatest_bytes_and_means() {
        for window in windows() {
            for channels in [1, 5, 16, 21, 70] {
                let input = bytes(window.input[0] * window.input[1] * channels, 1);
                let (mut greatest, mut means) = (Vec::new(), Vec::new());
                for pixel in 0..window.output[0] * window.output[1] {
                    for channel in 0..channels {
                        let taps = window.plain_taps(pixel / window.output[1], pixel % window.output[1]);
                        let numbers: Vec<i8> = taps.map(|(_, pixel)| input[pixel * channels + channel]).collect();
                        greatest.push(numbers.iter().copied().max().unwrap_or(-128));
                        let sum: i32 = numbers.iter().map(|byte| i32::from(*byte) - FROM.zero_point).sum();
                        let mean = f64::from(sum) * f64::from(FROM.scale) / 7.0 / f64::from(TO.scale);
                        means.push((mean.round_ties_even() + f64::from(TO.zero_point)).clamp(-128.0, 127.0) as i8);
                    }
                }
                for level in Level::available() {
                    let what = std::format!("{window:?} {channels} {}", level.name());
                    let mut output = vec![0; greatest.len()];
                    let all = 0..window.output[0];
                    max_pool_bytes(level, &window, channels, &input, all.clone(), &mut output).unwrap();
                    assert_eq!(output, greatest, "{what}");
                    let divisor = Divisor::Fixed(7.0);
                    average_pool_bytes(level, &window, channels, &input, FROM, divisor, TO, all, &mut output).unwrap();
                    assert_nearly_equal(&what, &output, &means);
                }
            }
        }
    }
}
