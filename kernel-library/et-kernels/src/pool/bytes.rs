//! int8 pooling.
#![allow(unsafe_code)] // Tiles are read through pointers; bounds are checked once for a call.

use core::ops::Range;

use et_core::Result;
use et_simd::{Integer, Level, Simd, Work};

use super::Divisor;
use crate::quantized::{ALL, Quantization, Rescale};
use crate::tile::{Pixels, Tile, row};
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
    window.check(channels, input.len(), &rows, output.len())?;
    level.run(Pool { window, channels, input, mean: None, rows, output });
    Ok(())
}

/// int8 average pooling, as [`super::average_pool`].
#[allow(clippy::too_many_arguments)] // Two tensors, what their bytes mean, the geometry, and the share of the work.
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
    window.check(channels, input.len(), &rows, output.len())?;
    level.run(Pool { window, channels, input, mean: Some((from, divisor, to)), rows, output });
    Ok(())
}

struct Pool<'a> {
    window: &'a Window,
    channels: usize,
    input: &'a [i8],
    /// The average; `None` for max pooling.
    mean: Option<(Quantization, Divisor, Quantization)>,
    rows: Range<usize>,
    output: &'a mut [i8],
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
        let mut tile = [[isa.splat_i32(if self.mean.is_some() { 0 } else { -128 }); N]; P];
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
                            let from = from.add(pixel * step + vector * S::LANES);
                            let bytes =
                                if lanes == S::LANES { isa.read_i8(from) } else { isa.read_i8_part(from, lanes) };
                            *result = if self.mean.is_some() { *result + bytes } else { result.max(bytes) };
                        }
                    }
                }
            }
            let first = (pixels.row - self.rows.start) * window.output[1] + pixels.column;
            for (pixel, tile) in tile.iter().enumerate() {
                let to = self.output.as_mut_ptr().add((first + pixel) * channels + channel);
                for (vector, result) in tile.iter().enumerate() {
                    let (to, bytes) = (to.add(vector * S::LANES), self.bytes(isa, *result, inside));
                    if lanes == S::LANES { isa.write_i8(to, bytes) } else { isa.write_i8_part(to, lanes, bytes) }
                }
            }
        }
    }

    /// The qparams of the output.
    #[inline(always)]
    fn bytes<S: Simd>(&self, isa: S, result: S::I32, inside: usize) -> S::I32 {
        let Some((from, divisor, to)) = self.mean else { return result };
        let offset = isa.splat(inside as f32 * from.zero_point as f32);
        let factor = from.scale / to.scale / divisor.of(inside);
        Rescale::new(isa, factor, to.zero_point, ALL).bytes(result.to_float() - offset)
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
