//! `f32` depthwise convolution directly from the image, a pair of output rows at a time: the receptive fields overlap,
//! and 14 independent accumulators hide the FMA latency. Kernel positions outside the image are skipped, so that no
//! line is copied for padding.
#![allow(unsafe_code)] // Tensors are read through pointers; bounds are checked once for a call.
#![allow(clippy::needless_range_loop)] // An index counts through sums and the image at once.

use core::mem::MaybeUninit;
use core::ops::Range;

use et_simd::{Float, Simd};

use super::arithmetic::{Arithmetic, To};
use super::convolve::Tensors;
use super::floats::Numbers;
use super::plan::PIXELS;
use crate::window::Window;

/// The maximum number of channel vectors per block: the vectors of a pixel are contiguous.
const DEPTH: usize = 6;

/// The maximum number of kernel positions.
const TAPS: usize = 25;

/// The largest number of lanes of any ISA.
const LANES: usize = 16;

/// The packed weights of a block, vector by vector.
#[repr(align(64))]
struct Weights([MaybeUninit<f32>; DEPTH * TAPS * LANES]);

/// Convolves the tensors. Returns false, without output, if the geometry is unsupported or the image too narrow. The
/// sizes match the geometry.
#[inline(always)]
pub fn convolve<S: Simd>(numbers: Numbers<'_, S>, tensors: &mut Tensors<'_, f32>) -> bool {
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

/// Whether only the first and the last half of the kernel columns can leave the image.
#[inline(always)]
fn fits(window: &Window) -> bool {
    let Window { input, output, kernel, stride, padding, dilation } = *window;
    let (half, reach) = (kernel[1] / 2, output[1].saturating_sub(1) * stride[1] + kernel[1]);
    let is_within = padding[1] <= half && reach <= input[1] + padding[1] + half;
    dilation == [1, 1] && output[1] >= PIXELS && is_within && kernel[0] * kernel[1] <= TAPS
}

/// The tensors, and the packed weights of a block of channels.
struct Image<'a, 't, S: Simd> {
    numbers: Numbers<'a, S>,
    tensors: &'a mut Tensors<'t, f32>,
    /// The first channel vector of the block.
    first: usize,
    weights: Weights,
}

/// A tile: pixels of a pair of output rows, from `column` on.
struct Tile {
    row: usize,
    column: usize,
    /// The input lines of the receptive fields of both rows; empty for a missing second row.
    lines: [Range<usize>; 2],
    /// The first kernel row within the image, for both output rows.
    taps: [usize; 2],
    /// The pixel offsets within the image, of the pixels that a tile row spans.
    inside: Range<usize>,
}

impl<S: Simd> Image<'_, '_, S> {
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
                        // SAFETY: the tile is within the output, whose size matches the geometry.
                        unsafe { self.compute::<KERNEL, STRIDE>(&tile, index) };
                    }
                }
            }
        }
    }

    /// The first channel of a vector. The last vector overlaps the previous vector, which is faster than a partial
    /// vector.
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
            // SAFETY: the kernel has the position and the image the channels; the buffer has room for every kernel
            // position.
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

    /// Computes a channel vector of a tile.
    ///
    /// # Safety
    /// The output has the tile, and the image the channels; the sizes match the geometry, and the weights are packed.
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
        // SAFETY: lines, kernel rows and the pixel offsets of `inside` are within the image.
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

/// Accumulates an input line into the first output row, the second output row, or both.
///
/// # Safety
/// The pixels of `inside` exist, and the weights of each selected row are packed.
#[inline(always)]
unsafe fn add<S: Simd, const KERNEL: usize, const STRIDE: usize, const FIRST: bool, const SECOND: bool>(
    isa: S,
    sums: &mut [[S::F32; PIXELS]; 2],
    (line, step): (*const f32, usize),
    inside: &Range<usize>,
    weights: [*const f32; 2],
) {
    let reach = (PIXELS - 1) * STRIDE + KERNEL;
    for tap in 0..KERNEL {
        // SAFETY: the caller guarantees pixels and weights.
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
