//! The loops of pooling over output pixels, channels and kernel positions, for `f32` and int8.
#![allow(unsafe_code)] // Tensors are read through pointers; bounds are checked once for a call.

use core::ops::Range;

use et_core::Result;
use et_simd::{Level, Simd, Work};

use crate::window::Window;

/// The reduction of a window.
pub trait Reduction: Copy {
    /// The element type of both tensors.
    type Element: Copy;
    /// The accumulator of a vector of channels.
    type Sum<S: Simd>: Copy;

    /// The accumulator of no element.
    fn start<S: Simd>(self, isa: S) -> Self::Sum<S>;
    /// Accumulates the elements of a pixel.
    ///
    /// # Safety
    /// `from` is valid for reads of `lanes` elements, at most a vector.
    unsafe fn add<S: Simd>(self, isa: S, sum: Self::Sum<S>, from: *const Self::Element, lanes: usize) -> Self::Sum<S>;
    /// Stores the result of `inside` elements per channel.
    ///
    /// # Safety
    /// `to` is valid for writes of `lanes` elements, at most a vector.
    unsafe fn store<S: Simd>(self, isa: S, sum: Self::Sum<S>, inside: usize, to: *mut Self::Element, lanes: usize);
}

/// Reduces the windows of the output `rows` of an NHWC image; `output` holds only these rows.
#[inline(always)]
pub fn pool<R: Reduction>(
    level: Level,
    reduction: R,
    window: &Window,
    channels: usize,
    input: &[R::Element],
    rows: Range<usize>,
    output: &mut [R::Element],
) -> Result<()> {
    window.check(channels, input.len(), &rows, output.len())?;
    level.run(Pool { reduction, window, channels, input, rows, output });
    Ok(())
}

struct Pool<'a, R: Reduction> {
    reduction: R,
    window: &'a Window,
    channels: usize,
    input: &'a [R::Element],
    rows: Range<usize>,
    output: &'a mut [R::Element],
}

/// Neighbouring pixels of an output row, or a single pixel, and the kernel positions in the image.
struct Pixels {
    row: usize,
    column: usize,
    taps: [Range<usize>; 2],
}

/// Pixels per tile away from the borders.
const PIXELS: usize = 4;

impl<R: Reduction> Work for Pool<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, isa: S) {
        for row in self.rows.clone() {
            self.row(isa, row);
        }
    }
}

impl<R: Reduction> Pool<'_, R> {
    #[inline(always)]
    fn row<S: Simd>(&mut self, isa: S, row: usize) {
        let window = self.window;
        let inner = window.inner(1);
        let mut column = 0;
        while column < window.output[1] {
            let pixels = Pixels { row, column, taps: [window.taps(0, row), window.taps(1, column)] };
            if inner.contains(&column) && inner.end - column >= PIXELS {
                self.pixels::<S, PIXELS>(isa, &pixels);
                column += PIXELS;
            } else {
                self.pixels::<S, 1>(isa, &pixels);
                column += 1;
            }
        }
    }

    /// Computes every channel of `P` pixels.
    #[inline(always)]
    fn pixels<S: Simd, const P: usize>(&mut self, isa: S, pixels: &Pixels) {
        let (channels, mut channel) = (self.channels, 0);
        // SAFETY: every tile has existing channels, and `taps` yields kernel positions within the image for each pixel.
        unsafe {
            while P == 1 && channel + 4 * S::LANES <= channels {
                self.tile::<S, P, 4>(isa, pixels, channel, S::LANES);
                channel += 4 * S::LANES;
            }
            // With 16 registers, the accumulators of two vectors leave no register for the operands.
            while (P == 1 || S::REGISTERS >= 32) && channel + 2 * S::LANES <= channels {
                self.tile::<S, P, 2>(isa, pixels, channel, S::LANES);
                channel += 2 * S::LANES;
            }
            while channel + S::LANES <= channels {
                self.tile::<S, P, 1>(isa, pixels, channel, S::LANES);
                channel += S::LANES;
            }
            if channel < channels && channels >= S::LANES {
                // Recomputing channels of the previous vector is faster than a partial vector.
                self.tile::<S, P, 1>(isa, pixels, channels - S::LANES, S::LANES);
            } else if channel < channels {
                self.tile::<S, P, 1>(isa, pixels, channel, channels - channel);
            }
        }
    }

    /// Computes `P` pixels of `N` vectors of channels, or of `lanes` channels.
    ///
    /// # Safety
    /// `N` vectors, or `lanes` channels, exist from `channel` on; the kernel positions of `pixels` are within the image.
    #[inline(always)]
    unsafe fn tile<S: Simd, const P: usize, const N: usize>(
        &mut self,
        isa: S,
        pixels: &Pixels,
        channel: usize,
        lanes: usize,
    ) {
        let (reduction, window, channels) = (self.reduction, self.window, self.channels);
        let [tap_rows, tap_columns] = pixels.taps.clone();
        let inside = tap_rows.len() * tap_columns.len();
        let mut tile = [[reduction.start(isa); N]; P];
        let step = window.stride[1] * channels;
        // SAFETY: sizes were validated against the window; the caller guarantees channels and kernel positions.
        unsafe {
            for tap_row in tap_rows {
                let line = window.place(0, pixels.row, tap_row) * window.input[1];
                for tap_column in tap_columns.clone() {
                    let from = (line + window.place(1, pixels.column, tap_column)) * channels + channel;
                    let from = self.input.as_ptr().add(from);
                    for (pixel, sums) in tile.iter_mut().enumerate() {
                        for (vector, sum) in sums.iter_mut().enumerate() {
                            *sum = reduction.add(isa, *sum, from.add(pixel * step + vector * S::LANES), lanes);
                        }
                    }
                }
            }
            let first = (pixels.row - self.rows.start) * window.output[1] + pixels.column;
            for (pixel, sums) in tile.iter().enumerate() {
                let to = self.output.as_mut_ptr().add((first + pixel) * channels + channel);
                for (vector, sum) in sums.iter().enumerate() {
                    reduction.store(isa, *sum, inside, to.add(vector * S::LANES), lanes);
                }
            }
        }
    }
}
