//! Convolution of numbers straight from the image, a pair of rows at a time: their windows share most of what is read, and
//! there are enough sums that none waits for the one before. Taps outside of the image are left out, so that no line is
//! copied to get padding.
#![allow(unsafe_code)] // Tensors are read through pointers; bounds are checked once for a call.
#![allow(clippy::needless_range_loop)] // An index counts through sums and the image at once.

use core::mem::MaybeUninit;
use core::ops::Range;

use et_simd::{Float, Isa};

use super::arithmetic::{Arithmetic, To};
use super::convolve::Tensors;
use super::floats::Numbers;
use super::plan::PIXELS;
use crate::window::Window;

/// The most vectors of channels that are computed together: what they read of a pixel are neighbours.
const DEPTH: usize = 6;

/// The most taps of a window.
const TAPS: usize = 25;

/// The most lanes of a vector.
const LANES: usize = 16;

/// The weights of the vectors, one after the other.
#[repr(align(64))]
struct Weights([MaybeUninit<f32>; DEPTH * TAPS * LANES]);

/// Convolves; not if the window is of another kind, or the image too narrow. Sizes fit the window.
#[inline(always)]
pub fn convolve<S: Isa>(numbers: Numbers<'_, S>, tensors: &mut Tensors<'_, f32>) -> bool {
    if !fits(tensors.window) || tensors.channels < S::LANES {
        return false;
    }
    let mut image = Image { numbers, tensors, first: 0, weights: Weights([MaybeUninit::uninit(); _]) };
    match (image.tensors.window.kernel[1], image.tensors.window.stride[1]) {
        (3, 1) => image.run::<3, 1>(),
        (3, 2) => image.run::<3, 2>(),
        (5, 1) => image.run::<5, 1>(),
        (5, 2) => image.run::<5, 2>(),
        _ => return false,
    }
    true
}

/// Whether all tiles are within the image but for the first and last half of the taps.
#[inline(always)]
fn fits(window: &Window) -> bool {
    let Window { input, output, kernel, stride, padding, dilation } = *window;
    let (half, reach) = (kernel[1] / 2, output[1].saturating_sub(1) * stride[1] + kernel[1]);
    let is_within = padding[1] <= half && reach <= input[1] + padding[1] + half;
    dilation == [1, 1] && output[1] >= PIXELS && is_within && kernel[0] * kernel[1] <= TAPS
}

/// What is convolved, and the weights of some of its channels.
struct Image<'a, 't, S: Isa> {
    numbers: Numbers<'a, S>,
    tensors: &'a mut Tensors<'t, f32>,
    /// The first vector of channels.
    first: usize,
    weights: Weights,
}

/// A tile: pixels of a pair of rows, from this column on.
struct Tile {
    row: usize,
    column: usize,
    /// The lines that the windows of both rows have; none behind the first ones where there is no second row.
    lines: [Range<usize>; 2],
    /// The first taps of the windows that are lines of the image.
    taps: [usize; 2],
    /// The places within the image, of those that the windows of a row have.
    inside: Range<usize>,
}

impl<S: Isa> Image<'_, '_, S> {
    #[inline(always)]
    fn run<const KERNEL: usize, const STRIDE: usize>(&mut self) {
        let vectors = self.tensors.channels.div_ceil(S::LANES);
        let (rows, columns) = (self.tensors.rows.clone(), self.tensors.window.output[1]);
        let equal = vectors.div_ceil(vectors.div_ceil(DEPTH));
        for first in (0..vectors).step_by(equal) {
            self.first = first;
            let depth = equal.min(vectors - first);
            for index in 0..depth {
                self.prepare_weights(index);
            }
            for row in rows.clone().step_by(2) {
                for column in (0..columns).step_by(PIXELS) {
                    let tile = self.tile::<KERNEL, STRIDE>(row, column.min(columns - PIXELS));
                    for index in 0..depth {
                        // SAFETY: the tile is one of the output's, whose size fits the window.
                        unsafe { self.compute::<KERNEL, STRIDE>(&tile, index) };
                    }
                }
            }
        }
    }

    /// The first channel of a vector. Computing some channels again is faster than computing fewer.
    #[inline(always)]
    fn channel(&self, index: usize) -> usize {
        ((self.first + index) * S::LANES).min(self.tensors.channels - S::LANES)
    }

    #[inline(always)]
    fn prepare_weights(&mut self, index: usize) {
        let (channel, taps) = (self.channel(index), self.tensors.window.kernel.iter().product());
        let (isa, all) = (self.numbers.isa, self.tensors.channels);
        let to = self.weights.0.as_mut_ptr().cast::<f32>().wrapping_add(index * TAPS * LANES);
        for tap in 0..taps {
            // SAFETY: the window has the tap and the image the channels; there is room for all taps of the window.
            unsafe {
                let weights = isa.read(self.tensors.weights.as_ptr().add(tap * all + channel));
                isa.write(to.add(tap * S::LANES), weights);
            }
        }
    }

    #[inline(always)]
    fn tile<const KERNEL: usize, const STRIDE: usize>(&self, row: usize, column: usize) -> Tile {
        let window = self.tensors.window;
        let of_row = |row: usize| {
            let taps = window.taps(0, row);
            let start = if taps.is_empty() { 0 } else { window.place(0, row, taps.start) };
            (start..start + taps.len(), taps.start)
        };
        let (first, tap) = of_row(row);
        let next = (row + 1 < self.tensors.rows.end).then(|| of_row(row + 1)).filter(|(lines, _)| !lines.is_empty());
        let (second, next_tap) = next.unwrap_or((first.end..first.end, 0));
        let before = window.padding[1].saturating_sub(column * STRIDE);
        let end = window.input[1] + window.padding[1] - column * STRIDE;
        let reach = (PIXELS - 1) * STRIDE + KERNEL;
        Tile { row, column, lines: [first, second], taps: [tap, next_tap], inside: before..end.min(reach) }
    }

    /// One vector of channels of a tile.
    ///
    /// # Safety
    /// The output has the tile, and the image the channels; sizes fit the window, and weights are prepared.
    #[inline(always)]
    unsafe fn compute<const KERNEL: usize, const STRIDE: usize>(&mut self, tile: &Tile, index: usize) {
        let (window, all, channel) = (self.tensors.window, self.tensors.channels, self.channel(index));
        let weights = self.weights.0.as_ptr().cast::<f32>().wrapping_add(index * TAPS * LANES);
        let column = (tile.column * STRIDE).cast_signed() - window.padding[1].cast_signed();
        let image = self.tensors.input.as_ptr().wrapping_offset(column * all.cast_signed()).wrapping_add(channel);
        let line = |line: usize| image.wrapping_add(line * window.input[1] * all);
        let row = |row: usize, line: usize| {
            let tap = (tile.taps[row] + line).wrapping_sub(tile.lines[row].start);
            weights.wrapping_add(tap.wrapping_mul(KERNEL * S::LANES))
        };
        let start = self.numbers.start(channel, S::LANES);
        let (numbers, mut sums) = (self.numbers, [[start; PIXELS]; 2]);
        macro_rules! add {
            ($lines:expr, $first:literal, $second:literal) => {
                for at in $lines {
                    let weights = [row(0, at), row(1, at)];
                    add::<S, KERNEL, STRIDE, $first, $second>(
                        numbers.isa,
                        &mut sums,
                        (line(at), all),
                        &tile.inside,
                        weights,
                    );
                }
            };
        }
        let [first, second] = &tile.lines;
        // SAFETY: lines and taps are within the image, as is what the tile calls inside.
        unsafe {
            add!(first.start..first.end.min(second.start), true, false);
            add!(second.start.max(first.start)..second.end.min(first.end), true, true);
            add!(second.start.max(first.end)..second.end, false, true);
            let at = ((tile.row - self.tensors.rows.start) * window.output[1] + tile.column) * all + channel;
            let to =
                To { first: self.tensors.output.as_mut_ptr().wrapping_add(at), step: all, channel, lanes: S::LANES };
            numbers.finish(sums[0], PIXELS, to);
            if tile.row + 1 < self.tensors.rows.end {
                numbers.finish(sums[1], PIXELS, To { first: to.first.wrapping_add(window.output[1] * all), ..to });
            }
        }
    }
}

/// Adds the products of a line and the weights of a row of taps to the sums of the first row, of the second, or of both.
///
/// # Safety
/// Pixels that are inside are there, and weights of the rows that are added to.
#[inline(always)]
unsafe fn add<S: Isa, const KERNEL: usize, const STRIDE: usize, const FIRST: bool, const SECOND: bool>(
    isa: S,
    sums: &mut [[S::F32; PIXELS]; 2],
    (line, step): (*const f32, usize),
    inside: &Range<usize>,
    weights: [*const f32; 2],
) {
    let reach = (PIXELS - 1) * STRIDE + KERNEL;
    for tap in 0..KERNEL {
        // SAFETY: the caller says so.
        unsafe {
            let first = isa.read(weights[usize::from(!FIRST)].add(tap * S::LANES));
            let second = isa.read(weights[usize::from(SECOND)].add(tap * S::LANES));
            for pixel in 0..PIXELS {
                let place = pixel * STRIDE + tap;
                let is_border = place < KERNEL / 2 || place >= reach - KERNEL / 2;
                if is_border && !inside.contains(&place) {
                    continue;
                }
                let numbers = isa.read(line.wrapping_add(place * step));
                if FIRST {
                    sums[0][pixel] = numbers.mul_add(first, sums[0][pixel]);
                }
                if SECOND {
                    sums[1][pixel] = numbers.mul_add(second, sums[1][pixel]);
                }
            }
        }
    }
}
