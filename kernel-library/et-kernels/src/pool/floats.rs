//! `f32` pooling.
#![allow(unsafe_code)] // Tiles are read through pointers; bounds are checked once for a call.

use core::ops::Range;

use et_core::Result;
use et_simd::{Float, Level, Simd, Work};

use super::Divisor;
use crate::tile::{Pixels, Tile, row};
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
    window.check(channels, input.len(), &rows, output.len())?;
    level.run(Pool { window, channels, input, divisor: None, rows, output });
    Ok(())
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
    window.check(channels, input.len(), &rows, output.len())?;
    level.run(Pool { window, channels, input, divisor: Some(divisor), rows, output });
    Ok(())
}

struct Pool<'a> {
    window: &'a Window,
    channels: usize,
    input: &'a [f32],
    /// The divisor; `None` for max pooling.
    divisor: Option<Divisor>,
    rows: Range<usize>,
    output: &'a mut [f32],
}

impl Work for Pool<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, isa: S) {
        let (window, channels) = (self.window, self.channels);
        for index in self.rows.clone() {
            row(isa, &mut self, window, channels, index);
        }
    }
}

impl<S: Simd> Tile<S> for Pool<'_> {
    #[inline(always)]
    fn vectors<const P: usize, const N: usize>(&mut self, isa: S, pixels: &Pixels, channel: usize) {
        // SAFETY: `row` of the tile module passes channels within the image.
        unsafe { self.tile::<S, P, N>(isa, pixels, channel, S::LANES) };
    }
    #[inline(always)]
    fn rest<const P: usize>(&mut self, isa: S, pixels: &Pixels, channel: usize) {
        // SAFETY: `row` of the tile module passes channels within the image.
        unsafe { self.tile::<S, P, 1>(isa, pixels, channel, self.channels - channel) };
    }
}

impl Pool<'_> {
    /// # Safety
    /// `N` vectors, or `lanes` channels, exist from `channel` on; the kernel positions of `pixels` are within the
    /// image.
    #[inline(always)]
    unsafe fn tile<S: Simd, const P: usize, const N: usize>(
        &mut self,
        isa: S,
        pixels: &Pixels,
        channel: usize,
        lanes: usize,
    ) {
        let (window, channels) = (self.window, self.channels);
        let [tap_rows, tap_columns] = pixels.taps.clone();
        let inside = tap_rows.len() * tap_columns.len();
        let start = isa.splat(if self.divisor.is_some() { 0.0 } else { f32::NEG_INFINITY });
        let mut tile = [[start; N]; P];
        let step = window.stride[1] * channels;
        // SAFETY: sizes were validated against the window; the caller guarantees channels and kernel positions.
        unsafe {
            for tap_row in tap_rows {
                let line = window.place(0, pixels.row, tap_row) * window.input[1];
                for tap_column in tap_columns.clone() {
                    let from = (line + window.place(1, pixels.column, tap_column)) * channels + channel;
                    let from = self.input.as_ptr().add(from);
                    for (pixel, tile) in tile.iter_mut().enumerate() {
                        for (vector, result) in tile.iter_mut().enumerate() {
                            let numbers = read(isa, from.add(pixel * step + vector * S::LANES), lanes);
                            // NaN propagates.
                            let greatest = result.max(numbers).select(result.is_equal(*result), *result);
                            *result = if self.divisor.is_some() { *result + numbers } else { greatest };
                        }
                    }
                }
            }
            let divisor = isa.splat(self.divisor.map_or(
                1.0,
                #[inline(always)]
                |divisor| divisor.of(inside),
            ));
            let first = (pixels.row - self.rows.start) * window.output[1] + pixels.column;
            for (pixel, tile) in tile.iter().enumerate() {
                let to = self.output.as_mut_ptr().add((first + pixel) * channels + channel);
                for (vector, result) in tile.iter().enumerate() {
                    let (to, result) = (to.add(vector * S::LANES), *result / divisor);
                    if lanes == S::LANES { isa.write(to, result) } else { isa.write_part(to, lanes, result) }
                }
            }
        }
    }
}

/// # Safety
/// `from` is valid for reads of `lanes` elements.
#[inline(always)]
unsafe fn read<S: Simd>(isa: S, from: *const f32, lanes: usize) -> S::F32 {
    // SAFETY: the caller guarantees `lanes` elements.
    unsafe { if lanes == S::LANES { isa.read(from) } else { isa.read_part(from, lanes) } }
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
