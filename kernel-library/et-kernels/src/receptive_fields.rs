//! The loop over receptive fields: reduces the pixels of each, by vectors of channels.
#![allow(unsafe_code)] // Tensors are read through pointers; bounds are checked once for a call.

use core::ops::Range;

use et_simd::Simd;

use crate::window::Image;

/// The reduction of a receptive field.
pub trait Reduction: Copy {
    /// The element type of input and output.
    type Element: Copy;
    /// The accumulator of a vector of channels.
    type Sum<S: Simd>: Copy;

    /// The accumulator of channels from `channel` on, without an element.
    fn start<S: Simd>(self, isa: S, channel: usize) -> Self::Sum<S>;
    /// Accumulates the elements of a pixel; `weight` is the index of the first weight `[rows, columns, channels]`.
    ///
    /// # Safety
    /// `from` is valid for reads of `lanes` elements, at most a vector, and the kernel has the weights.
    unsafe fn add<S: Simd>(
        self,
        isa: S,
        sum: Self::Sum<S>,
        from: *const Self::Element,
        weight: usize,
        lanes: usize,
    ) -> Self::Sum<S>;
    /// Stores the result of `inside` elements per channel.
    ///
    /// # Safety
    /// `to` is valid for writes of `lanes` elements, at most a vector.
    unsafe fn store<S: Simd>(self, isa: S, sum: Self::Sum<S>, inside: usize, to: *mut Self::Element, lanes: usize);
}

/// Reduces the receptive fields of the output rows, in tiles of `PIXELS` pixels away from the borders. The image is checked.
#[inline(always)]
pub fn reduce<S: Simd, R: Reduction, const PIXELS: usize>(isa: S, reduction: R, image: &mut Image<'_, R::Element>) {
    let (window, inner) = (image.window, image.window.inner(1));
    for row in image.rows.clone() {
        let mut column = 0;
        while column < window.output[1] {
            let tile = Tile { row, column, taps: [window.taps(0, row), window.taps(1, column)] };
            if inner.contains(&column) && inner.end - column >= PIXELS {
                tile.reduce::<S, R, PIXELS>(isa, reduction, image);
                column += PIXELS;
            } else {
                tile.reduce::<S, R, 1>(isa, reduction, image);
                column += 1;
            }
        }
    }
}

/// Neighbouring pixels of an output row, or a single pixel, and the kernel positions in the image.
struct Tile {
    row: usize,
    column: usize,
    taps: [Range<usize>; 2],
}

impl Tile {
    /// Computes every channel of `P` pixels.
    #[inline(always)]
    fn reduce<S: Simd, R: Reduction, const P: usize>(&self, isa: S, reduction: R, image: &mut Image<'_, R::Element>) {
        let (channels, mut channel) = (image.channels, 0);
        // SAFETY: the vectors have existing channels, and `taps` yields kernel positions within the image for each pixel.
        unsafe {
            if channels < S::LANES {
                return self.vectors::<S, R, P, 1>(isa, reduction, image, 0, channels);
            }
            if const { P == 1 } {
                while channel + 4 * S::LANES <= channels {
                    self.vectors::<S, R, P, 4>(isa, reduction, image, channel, S::LANES);
                    channel += 4 * S::LANES;
                }
            }
            // With 16 registers, the accumulators of two vectors leave no register for the operands.
            if const { P == 1 || S::REGISTERS >= 32 } {
                while channel + 2 * S::LANES <= channels {
                    self.vectors::<S, R, P, 2>(isa, reduction, image, channel, S::LANES);
                    channel += 2 * S::LANES;
                }
            }
            // Recomputing channels of the previous vector is faster than a partial vector.
            while channel < channels {
                self.vectors::<S, R, P, 1>(isa, reduction, image, channel.min(channels - S::LANES), S::LANES);
                channel += S::LANES;
            }
        }
    }

    /// Computes `P` pixels of `N` vectors of channels, or of `lanes` channels.
    ///
    /// # Safety
    /// `N` vectors, or `lanes` channels, exist from `channel` on; the kernel positions are within the image.
    #[inline(always)]
    unsafe fn vectors<S: Simd, R: Reduction, const P: usize, const N: usize>(
        &self,
        isa: S,
        reduction: R,
        image: &mut Image<'_, R::Element>,
        channel: usize,
        lanes: usize,
    ) {
        let Image { window, channels, .. } = *image;
        let [tap_rows, tap_columns] = self.taps.clone();
        let inside = tap_rows.len() * tap_columns.len();
        let mut start = [reduction.start(isa, channel); N];
        for (vector, sum) in start.iter_mut().enumerate().skip(1) {
            *sum = reduction.start(isa, channel + vector * S::LANES);
        }
        let (mut tile, step) = ([start; P], window.stride[1] * channels);
        // SAFETY: `check` validated the sizes; the caller guarantees channels and kernel positions.
        unsafe {
            for tap_row in tap_rows {
                let line = window.place(0, self.row, tap_row) * window.input[1];
                for tap_column in tap_columns.clone() {
                    let from = (line + window.place(1, self.column, tap_column)) * channels + channel;
                    let from = image.input.as_ptr().add(from);
                    let weight = (tap_row * window.kernel[1] + tap_column) * channels + channel;
                    for (pixel, sums) in tile.iter_mut().enumerate() {
                        for (vector, sum) in sums.iter_mut().enumerate() {
                            let at = vector * S::LANES;
                            *sum = reduction.add(isa, *sum, from.add(pixel * step + at), weight + at, lanes);
                        }
                    }
                }
            }
            let first = (self.row - image.rows.start) * window.output[1] + self.column;
            for (pixel, sums) in tile.iter().enumerate() {
                let to = image.output.as_mut_ptr().add((first + pixel) * channels + channel);
                for (vector, sum) in sums.iter().enumerate() {
                    reduction.store(isa, *sum, inside, to.add(vector * S::LANES), lanes);
                }
            }
        }
    }
}
