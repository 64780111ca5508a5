//! `f32` pooling.
#![allow(unsafe_code)] // Elements are read and written through pointers.

use core::ops::Range;

use et_core::Result;
use et_simd::{Float, Level, Simd};

use super::Divisor;
use super::run::{Reduction, pool};
use crate::window::Window;

/// Max pooling of an image `[rows, columns, channels]` for the output `rows`; `output` holds only these rows. A window
/// without a pixel of the image yields negative infinity.
#[inline]
pub fn max_pool(
    level: Level,
    window: &Window,
    channels: usize,
    input: &[f32],
    rows: Range<usize>,
    output: &mut [f32],
) -> Result<()> {
    pool(level, Max, window, channels, input, rows, output)
}

/// Average pooling, as [`max_pool`].
#[inline]
pub fn average_pool(
    level: Level,
    window: &Window,
    channels: usize,
    input: &[f32],
    divisor: Divisor,
    rows: Range<usize>,
    output: &mut [f32],
) -> Result<()> {
    pool(level, Mean(divisor), window, channels, input, rows, output)
}

/// The maximum; NaN propagates.
#[derive(Clone, Copy)]
struct Max;

impl Reduction for Max {
    type Element = f32;
    type Sum<S: Simd> = S::F32;

    #[inline(always)]
    fn start<S: Simd>(self, isa: S) -> S::F32 {
        isa.splat(f32::NEG_INFINITY)
    }
    #[inline(always)]
    unsafe fn add<S: Simd>(self, isa: S, sum: S::F32, from: *const f32, lanes: usize) -> S::F32 {
        // SAFETY: the caller guarantees `lanes` elements.
        let numbers = unsafe { read(isa, from, lanes) };
        sum.max(numbers).select(sum.is_equal(sum), sum)
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(self, isa: S, sum: S::F32, _: usize, to: *mut f32, lanes: usize) {
        // SAFETY: the caller guarantees room for `lanes` elements.
        unsafe { write(isa, to, lanes, sum) }
    }
}

/// The mean.
#[derive(Clone, Copy)]
struct Mean(Divisor);

impl Reduction for Mean {
    type Element = f32;
    type Sum<S: Simd> = S::F32;

    #[inline(always)]
    fn start<S: Simd>(self, isa: S) -> S::F32 {
        isa.splat(0.0)
    }
    #[inline(always)]
    unsafe fn add<S: Simd>(self, isa: S, sum: S::F32, from: *const f32, lanes: usize) -> S::F32 {
        // SAFETY: the caller guarantees `lanes` elements.
        sum + unsafe { read(isa, from, lanes) }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(self, isa: S, sum: S::F32, inside: usize, to: *mut f32, lanes: usize) {
        // SAFETY: the caller guarantees room for `lanes` elements.
        unsafe { write(isa, to, lanes, sum / isa.splat(self.0.of(inside))) }
    }
}

/// # Safety
/// `from` is valid for reads of `lanes` elements.
#[inline(always)]
unsafe fn read<S: Simd>(isa: S, from: *const f32, lanes: usize) -> S::F32 {
    // SAFETY: the caller guarantees `lanes` elements.
    unsafe { if lanes == S::LANES { isa.read(from) } else { isa.read_part(from, lanes) } }
}

/// # Safety
/// `to` is valid for writes of `lanes` elements.
#[inline(always)]
unsafe fn write<S: Simd>(isa: S, to: *mut f32, lanes: usize, vector: S::F32) {
    // SAFETY: the caller guarantees room for `lanes` elements.
    unsafe { if lanes == S::LANES { isa.write(to, vector) } else { isa.write_part(to, lanes, vector) } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_close, numbers};
    use crate::window::test::windows;
    use std::vec;
    use std::vec::Vec;

    /// Applies a reference function to the elements of each window.
    fn plain(window: &Window, channels: usize, input: &[f32], function: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let mut output = Vec::new();
        for pixel in 0..window.output[0] * window.output[1] {
            for channel in 0..channels {
                let taps = window.plain_taps(pixel / window.output[1], pixel % window.output[1]);
                let numbers: Vec<f64> = taps.map(|(_, pixel)| f64::from(input[pixel * channels + channel])).collect();
                output.push(function(&numbers));
            }
        }
        output
    }

    #[test]
    fn windows_have_greatest_numbers_and_means() {
        for window in windows() {
            for channels in [1, 5, 8, 16, 21, 64, 70] {
                let input = numbers(window.input[0] * window.input[1] * channels, 1);
                let greatest = plain(&window, channels, &input, |numbers| {
                    numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)
                });
                let mean = plain(&window, channels, &input, |numbers| {
                    numbers.iter().sum::<f64>() / if numbers.is_empty() { f64::NAN } else { numbers.len() as f64 }
                });
                let fixed = plain(&window, channels, &input, |numbers| numbers.iter().sum::<f64>() / 9.0);
                for level in Level::available() {
                    let what = std::format!("{window:?} {channels} {}", level.name());
                    let mut output = vec![9.0; greatest.len()];
                    let all = 0..window.output[0];
                    max_pool(level, &window, channels, &input, all.clone(), &mut output).unwrap();
                    assert_close(&what, &output, &greatest, 0.0);
                    let divisor = Divisor::Fixed(9.0);
                    average_pool(level, &window, channels, &input, divisor, all.clone(), &mut output).unwrap();
                    assert_close(&what, &output, &fixed, 1e-6);
                    if mean.iter().all(|number| !number.is_nan()) {
                        average_pool(level, &window, channels, &input, Divisor::Inside, all, &mut output).unwrap();
                        assert_close(&what, &output, &mean, 1e-6);
                    }
                }
            }
        }
    }
}
