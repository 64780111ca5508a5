//! int8 depthwise convolution of blocks of channels over the whole image, so that the working set stays in cache.
//!
//! Each input line is packed once to vectors of neighbouring pixels, with padding on both sides. Every receptive field
//! is then a sum of dot products of packed vectors.
#![allow(unsafe_code)] // Tensors are read through pointers; bounds are checked once for a call.

use core::mem::MaybeUninit;
use core::ops::Range;

use et_simd::{Bytes, Dot, Simd};

use super::PIXELS;
use super::filter::{Int8Filter, of_zero_point};
use super::lines::{Channels, LINE_WORDS, MOST_LINES, Plan, WEIGHT_WORDS, lanes};
use crate::window::{Image, Window};

/// Cache-line aligned memory for packed weights and lines.
#[repr(align(64))]
pub struct Scratch {
    weights: [MaybeUninit<i32>; WEIGHT_WORDS],
    lines: [MaybeUninit<i32>; LINE_WORDS],
}

impl Scratch {
    /// Memory without content.
    #[inline(always)]
    pub const fn new() -> Self {
        Self { weights: [MaybeUninit::uninit(); _], lines: [MaybeUninit::uninit(); _] }
    }
}

/// A block of channel vectors with packed lines.
pub struct Block<'a, D> {
    /// The tensor's channels.
    pub channels: Channels<'a, D>,
    /// Weights, bias and requantization.
    pub filter: Int8Filter<'a>,
    /// The channel vectors.
    pub vectors: Range<usize>,
    /// The layout of packed lines.
    pub plan: Plan,
    /// Memory for packed weights and lines.
    pub scratch: &'a mut Scratch,
}

impl<'a, D: Dot> Block<'a, D> {
    /// Convolves the channels of the block.
    ///
    /// # Safety
    /// The channels exist, the sizes match the geometry, and the plan was made for the geometry.
    #[inline(always)]
    pub unsafe fn run(&mut self, image: &mut Image<'_, i8>) {
        let window = image.window;
        // SAFETY: the caller guarantees channels, sizes and plan.
        unsafe {
            self.prepare_weights(image.window);
            let mut first = 0;
            while first < window.output[1] {
                let pixels = self.plan.pixels.min(window.output[1] - first);
                self.columns(image, first..first + pixels);
                first += pixels;
            }
        }
    }

    /// Computes a range of columns of every output row.
    ///
    /// # Safety
    /// As for [`Self::run`]; the weights are packed.
    #[inline(always)]
    unsafe fn columns(&mut self, image: &mut Image<'_, i8>, columns: Range<usize>) {
        let window = image.window;
        let mut prepared = [usize::MAX; MOST_LINES];
        for row in image.rows.clone() {
            let taps = window.taps(0, row);
            let mut lines = [0; MOST_LINES];
            let mut slot = if taps.is_empty() { 0 } else { window.place(0, row, taps.start) % self.plan.lines };
            // SAFETY: the caller guarantees channels, sizes, plan and packed weights.
            unsafe {
                for tap in taps.clone() {
                    let line = window.place(0, row, tap);
                    lines[tap] = self.line(image, line, slot, columns.start, &mut prepared);
                    slot += window.dilation[0];
                    slot -= if slot < self.plan.lines { 0 } else { self.plan.lines };
                }
                for index in 0..self.vectors.len() {
                    self.row(image, index, row, columns.clone(), taps.clone(), &lines);
                }
            }
        }
    }

    /// The channels of a vector. The last vector overlaps the previous vector, which is faster than a partial vector.
    #[inline(always)]
    fn channels(&self, index: usize) -> Channels<'a, D> {
        let first = ((self.vectors.start + index) * lanes::<D>()).min(self.channels.all - self.channels.lanes);
        Channels { first, ..self.channels }
    }

    /// # Safety
    /// As for [`Self::run`].
    #[inline(always)]
    unsafe fn prepare_weights(&mut self, window: &Window) {
        let (isa, mut to) = (self.channels.dot.isa(), self.scratch.weights.as_mut_ptr().cast::<i32>());
        for index in 0..self.vectors.len() {
            let channels = self.channels(index);
            for row in 0..window.kernel[0] {
                let mut padding = channels.empty();
                // SAFETY: the caller guarantees the weights, and the plan reserves room for the packed weights.
                unsafe {
                    for group in 0..self.plan.groups {
                        let weights = channels.weights(window, self.filter.weights.as_ptr(), row, group);
                        padding = padding - of_zero_point(&channels, weights);
                        isa.write_i32(to.add((1 + group) * lanes::<D>()), weights);
                    }
                    isa.write_i32(to, padding);
                    to = to.add((1 + self.plan.groups) * lanes::<D>());
                }
            }
        }
    }

    /// Initial accumulators for receptive fields with `rows` kernel rows in the image.
    ///
    /// # Safety
    /// As for [`Self::run`]; the weights of `rows` kernel rows are packed.
    #[inline(always)]
    unsafe fn start(&self, channel: usize, weights: *const i32, rows: usize) -> Bytes<D> {
        let isa = self.channels.dot.isa();
        let mut sum = self.filter.start(isa, channel, self.channels.lanes);
        for row in 0..rows {
            // SAFETY: the caller guarantees packed weights of `rows` kernel rows.
            sum = sum + unsafe { isa.read_i32(weights.add(row * (self.plan.groups + 1) * lanes::<D>())) };
        }
        sum
    }

    /// Packs an input line unless packed already, and returns the offset in the line buffer.
    ///
    /// # Safety
    /// As for [`Self::run`]; the image has the line.
    #[inline(always)]
    unsafe fn line(
        &mut self,
        image: &Image<'_, i8>,
        line: usize,
        slot: usize,
        first: usize,
        prepared: &mut [usize; MOST_LINES],
    ) -> usize {
        let window = image.window;
        let length = self.plan.vectors * lanes::<D>();
        if prepared[slot] != line {
            prepared[slot] = line;
            let column = (first * window.stride[1]).cast_signed() - window.padding[1].cast_signed();
            for index in 0..self.vectors.len() {
                // SAFETY: the caller guarantees the line, and the plan reserves room for the packed lines.
                unsafe {
                    let line = image.input.as_ptr().add(line * window.input[1] * image.channels);
                    let at = (index * self.plan.lines + slot) * length;
                    let to = self.scratch.lines.as_mut_ptr().cast::<i32>().add(at);
                    self.channels(index).prepare_line(&self.plan, window, line, column, to);
                }
            }
        }
        slot * length
    }

    /// Computes a range of pixels of an output row.
    ///
    /// # Safety
    /// As for [`Self::run`]; the lines are packed.
    #[inline(always)]
    unsafe fn row(
        &self,
        image: &mut Image<'_, i8>,
        index: usize,
        row: usize,
        columns: Range<usize>,
        taps: Range<usize>,
        lines: &[usize; MOST_LINES],
    ) {
        let (window, all, channels) = (image.window, image.channels, self.channels(index));
        let Plan { groups, vectors, window_step, lines: count, .. } = self.plan;
        let at = ((row - image.rows.start) * window.output[1] + columns.start) * all + channels.first;
        let mut to = image.output.as_mut_ptr().wrapping_add(at);
        // SAFETY: the caller guarantees channels, sizes, plan and packed lines.
        unsafe {
            let rows = index * window.kernel[0] + taps.start;
            let weights = self.scratch.weights.as_ptr().cast::<i32>().add(rows * (groups + 1) * lanes::<D>());
            let mut from = self.scratch.lines.as_ptr().cast::<i32>().add(index * count * vectors * lanes::<D>());
            let start = self.start(channels.first, weights, taps.len());
            let mut pixel = 0;
            while pixel < columns.len() {
                let sums = self.accumulate(from, weights, &lines[taps.clone()], start);
                self.filter.store(&channels, sums, columns.len() - pixel, to);
                to = to.wrapping_add(PIXELS * all);
                from = from.wrapping_add(PIXELS * window_step * lanes::<D>());
                pixel += PIXELS;
            }
        }
    }

    /// Accumulates a tile of pixels.
    ///
    /// # Safety
    /// `from` and `weights` hold the packed vectors of the tile.
    #[inline(always)]
    unsafe fn accumulate(
        &self,
        from: *const i32,
        weights: *const i32,
        lines: &[usize],
        start: Bytes<D>,
    ) -> [Bytes<D>; PIXELS] {
        let Plan { window_step, groups, group_step, .. } = self.plan;
        // SAFETY: the caller guarantees packed vectors and weights.
        unsafe {
            match (D::TAPS, window_step, groups, group_step) {
                (1, 1, 3, 1) => self.products::<1, 3, 1>(from, weights, lines, start),
                (1, 1, 5, 1) => self.products::<1, 5, 1>(from, weights, lines, start),
                (1, 2, 3, 1) => self.products::<2, 3, 1>(from, weights, lines, start),
                (1, 2, 5, 1) => self.products::<2, 5, 1>(from, weights, lines, start),
                (2.., 1, 2, 2) => self.products::<1, 2, 2>(from, weights, lines, start),
                (4, 1, 2, 4) => self.products::<1, 2, 4>(from, weights, lines, start),
                (_, 1, 1, _) => self.products::<1, 1, 1>(from, weights, lines, start),
                _ => self.products::<0, 0, 0>(from, weights, lines, start),
            }
        }
    }

    /// [`Self::accumulate`] with compile-time constants: receptive fields `WINDOW` vectors apart, with `GROUPS` groups,
    /// `GROUP` vectors apart; run-time values if 0. Constants let the compiler share the vectors of overlapping
    /// receptive fields.
    ///
    /// # Safety
    /// As for [`Self::accumulate`].
    #[inline(always)]
    unsafe fn products<const WINDOW: usize, const GROUPS: usize, const GROUP: usize>(
        &self,
        from: *const i32,
        mut weights: *const i32,
        lines: &[usize],
        start: Bytes<D>,
    ) -> [Bytes<D>; PIXELS] {
        let (dot, isa) = (self.channels.dot, self.channels.dot.isa());
        let Plan { groups, window_step, group_step, .. } = self.plan;
        let [window_step, groups, group_step] =
            if GROUPS == 0 { [window_step, groups, group_step] } else { [WINDOW, GROUPS, GROUP] };
        let mut sums = [start; PIXELS];
        for line in lines {
            // SAFETY: the caller guarantees packed vectors and weights.
            unsafe {
                let from = from.add(*line);
                for group in 0..groups {
                    let weight = isa.read_i32(weights.add((1 + group) * lanes::<D>()));
                    for (pixel, sum) in sums.iter_mut().enumerate() {
                        let at = (pixel * window_step + group * group_step) * lanes::<D>();
                        *sum = dot.add_products(*sum, isa.read_i32(from.add(at)), weight);
                    }
                }
                weights = weights.add((1 + groups) * lanes::<D>());
            }
        }
        sums
    }
}

/// Convolves channels pixel by pixel: the fallback for kernels whose lines exceed the line buffer.
///
/// # Safety
/// The channels exist, and the sizes match the geometry.
#[inline(always)]
pub unsafe fn one_by_one<D: Dot>(channels: &Channels<'_, D>, filter: Int8Filter<'_>, image: &mut Image<'_, i8>) {
    let (window, dot) = (image.window, channels.dot);
    for (pixel, index) in (image.rows.start * window.output[1]..image.rows.end * window.output[1]).zip(0..) {
        let (row, column) = (pixel / window.output[1], pixel % window.output[1]);
        let mut sum = filter.start(dot.isa(), channels.first, channels.lanes);
        // SAFETY: the caller guarantees channels and sizes, and `taps` yields kernel positions within the image.
        unsafe {
            for tap in window.taps(0, row) {
                let line = image.input.as_ptr().add(window.place(0, row, tap) * window.input[1] * channels.all);
                for group in 0..window.kernel[1].div_ceil(D::TAPS) {
                    let weights = channels.weights(window, filter.weights.as_ptr(), tap, group);
                    let place = column * window.stride[1] + group * D::TAPS * window.dilation[1];
                    let place = place.cast_signed() - window.padding[1].cast_signed();
                    let bytes = channels.vector(window, line, place);
                    sum = dot.add_products(sum - of_zero_point(channels, weights), bytes, weights);
                }
            }
            let to = image.output.as_mut_ptr().add(index * channels.all + channels.first);
            filter.store(channels, [sum], 1, to);
        }
    }
}
