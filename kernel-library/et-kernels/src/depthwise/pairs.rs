//! `f32` depthwise convolution directly from the image, a pair of output rows at a time: the receptive fields overlap,
//! and 14 independent accumulators hide the FMA latency. Kernel positions outside the image are skipped, so that no
//! line is copied for padding.
#![allow(unsafe_code)] // Tensors are read through pointers; bounds are checked once for a call.
#![allow(clippy::needless_range_loop)] // An index counts through sums and the image at once.

use core::mem::MaybeUninit;
use core::ops::Range;

use et_simd::{Float, Simd, Work};

use super::PIXELS;
use super::filter::FloatFilter;
use crate::receptive_fields::Reduction;
use crate::rows::MOST_LANES;
use crate::window::{Image, Window};

/// The maximum number of channel vectors per block: the vectors of a pixel are contiguous.
const DEPTH: usize = 6;

/// The maximum number of kernel positions.
const TAPS: usize = 49;

/// The packed weights of a block, vector by vector.
#[repr(align(64))]
struct Weights([MaybeUninit<f32>; DEPTH * TAPS * MOST_LANES]);

/// Convolves an image, which is checked. Returns false, without output, if the geometry is unsupported or the image too
/// narrow.
#[inline(always)]
pub fn convolve<S: Simd>(isa: S, filter: FloatFilter<'_>, image: &mut Image<'_, f32>) -> bool {
    if !fits(image.window) || image.channels < S::LANES {
        return false;
    }
    let mut pairs = Pairs { isa, filter, image, first: 0, weights: Weights([MaybeUninit::uninit(); _]) };
    match (pairs.image.window.kernel[1], pairs.image.window.stride[1]) {
        (3, 1) => isa.vectorize(Run::<_, 3, 1>(&mut pairs)),
        (3, 2) => isa.vectorize(Run::<_, 3, 2>(&mut pairs)),
        (5, 1) => isa.vectorize(Run::<_, 5, 1>(&mut pairs)),
        (5, 2) => isa.vectorize(Run::<_, 5, 2>(&mut pairs)),
        (7, 1) => isa.vectorize(Run::<_, 7, 1>(&mut pairs)),
        _ => return false,
    }
    true
}

/// A geometry as a function of its own: the compiler gives up on optimizations in one large function.
struct Run<'p, 'a, 't, S: Simd, const KERNEL: usize, const STRIDE: usize>(&'p mut Pairs<'a, 't, S>);

impl<I: Simd, const KERNEL: usize, const STRIDE: usize> Work for Run<'_, '_, '_, I, KERNEL, STRIDE> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        self.0.run::<KERNEL, STRIDE>();
    }
}

/// Whether only the first and the last half of the kernel columns can leave the image.
#[inline(always)]
fn fits(window: &Window) -> bool {
    let Window { input, output, kernel, stride, padding, dilation } = *window;
    let (half, reach) = (kernel[1] / 2, output[1].saturating_sub(1) * stride[1] + kernel[1]);
    let is_within = padding[1] <= half && reach <= input[1] + padding[1] + half;
    dilation == [1, 1] && output[1] >= PIXELS && is_within && kernel[0] * kernel[1] <= TAPS
}

/// The image, and the packed weights of a block of channels.
struct Pairs<'a, 't, S: Simd> {
    isa: S,
    filter: FloatFilter<'a>,
    image: &'a mut Image<'t, f32>,
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

impl<S: Simd> Pairs<'_, '_, S> {
    #[inline(always)]
    fn run<const KERNEL: usize, const STRIDE: usize>(&mut self) {
        let vectors = self.image.channels.div_ceil(S::LANES);
        let (rows, columns) = (self.image.rows.clone(), self.image.window.output[1]);
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
        ((self.first + index) * S::LANES).min(self.image.channels - S::LANES)
    }

    /// The number of kernel positions.
    #[inline(always)]
    fn taps(&self) -> usize {
        self.image.window.kernel[0] * self.image.window.kernel[1]
    }

    #[inline(always)]
    fn prepare_weights(&mut self, index: usize) {
        let (channel, isa, all) = (self.channel(index), self.isa, self.image.channels);
        let to = self.weights.0.as_mut_ptr().cast::<f32>().wrapping_add(index * self.taps() * S::LANES);
        for tap in 0..self.taps() {
            // SAFETY: the kernel has the position and the image the channels; the buffer has room for every kernel
            // position.
            unsafe {
                let weights = isa.read(self.filter.weights.as_ptr().add(tap * all + channel));
                isa.write(to.add(tap * S::LANES), weights);
            }
        }
    }

    #[inline(always)]
    fn tile<const KERNEL: usize, const STRIDE: usize>(&self, row: usize, column: usize) -> Tile {
        let window = self.image.window;
        let of_row = |row: usize| {
            let taps = window.taps(0, row);
            let start = if taps.is_empty() { 0 } else { window.place(0, row, taps.start) };
            (start..start + taps.len(), taps.start)
        };
        let (first, tap) = of_row(row);
        let next = (row + 1 < self.image.rows.end).then(|| of_row(row + 1)).filter(|(lines, _)| !lines.is_empty());
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
        let (window, all, channel) = (self.image.window, self.image.channels, self.channel(index));
        let weights = self.weights.0.as_ptr().cast::<f32>().wrapping_add(index * self.taps() * S::LANES);
        let column = (tile.column * STRIDE).cast_signed() - window.padding[1].cast_signed();
        let image = self.image.input.as_ptr().wrapping_offset(column * all.cast_signed()).wrapping_add(channel);
        let line = |line: usize| image.wrapping_add(line * window.input[1] * all);
        let row = |row: usize, line: usize| {
            let tap = (tile.taps[row] + line).wrapping_sub(tile.lines[row].start);
            weights.wrapping_add(tap.wrapping_mul(KERNEL * S::LANES))
        };
        let (isa, filter) = (self.isa, self.filter);
        let mut sums = [[filter.start(isa, channel); PIXELS]; 2];
        macro_rules! add {
            ($lines:expr, $first:literal, $second:literal) => {
                for at in $lines {
                    let weights = [row(0, at), row(1, at)];
                    let line = (line(at), all);
                    add::<S, KERNEL, STRIDE, $first, $second>(isa, &mut sums, line, &tile.inside, weights);
                }
            };
        }
        let [first, second] = &tile.lines;
        // SAFETY: lines, kernel rows and the pixel offsets of `inside` are within the image.
        unsafe {
            add!(first.start..first.end.min(second.start), true, false);
            add!(second.start.max(first.start)..second.end.min(first.end), true, true);
            add!(second.start.max(first.end)..second.end, false, true);
            let at = ((tile.row - self.image.rows.start) * window.output[1] + tile.column) * all + channel;
            let to = self.image.output.as_mut_ptr().wrapping_add(at);
            filter.store_row(isa, sums[0], to, all);
            if tile.row + 1 < self.image.rows.end {
                filter.store_row(isa, sums[1], to.wrapping_add(window.output[1] * all), all);
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
