//! Depthwise convolution of int8, and of `f32` geometries outside [`super::pairs`]: blocks of channels over the whole
//! image, so that the working set stays in cache.
//!
//! Each input line is packed once to vectors of neighbouring pixels, with padding on both sides. Every receptive field
//! is then a sum of dot products of packed vectors.
#![allow(unsafe_code)] // Tensors are read through pointers; bounds are checked once for a call.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::arithmetic::{Arithmetic, To, lanes};
use super::line::Channels;
use super::plan::{LINE_WORDS, MOST_LINES, PIXELS, Plan, WEIGHT_WORDS};
use crate::window::Window;

/// Tensors and geometry; the sizes match the geometry.
pub struct Tensors<'a, T> {
    /// The geometry.
    pub window: &'a Window,
    /// The channels of the image.
    pub channels: usize,
    /// The NHWC image.
    pub input: &'a [T],
    /// The weights of the kernel.
    pub weights: &'a [T],
    /// The output rows to compute.
    pub rows: Range<usize>,
    /// The output, restricted to `rows`.
    pub output: &'a mut [T],
}

/// Cache-line aligned memory for packed weights and lines.
#[repr(align(64))]
struct Scratch {
    weights: [MaybeUninit<u32>; WEIGHT_WORDS],
    lines: [MaybeUninit<u32>; LINE_WORDS],
}

/// Convolves the tensors.
#[inline(always)]
pub fn convolve<A: Arithmetic>(arithmetic: A, mut tensors: Tensors<'_, A::Number>) {
    let plan = Plan::new::<A>(tensors.window);
    let [padding, zeros] = [[arithmetic.padding(); 16], [A::Number::default(); 16]];
    let all = tensors.channels;
    let mut scratch = Scratch { weights: [MaybeUninit::uninit(); _], lines: [MaybeUninit::uninit(); _] };
    let channels =
        Channels { arithmetic, all, first: 0, lanes: lanes::<A>().min(all), padding: &padding, zeros: &zeros };
    // SAFETY: each block has existing channels, and the sizes match the geometry.
    unsafe {
        let Some(plan) = plan else {
            for first in (0..all).step_by(lanes::<A>()) {
                let first = first.min(all - channels.lanes);
                one_by_one(&Channels { first, ..channels }, &mut tensors);
            }
            return;
        };
        let vectors = all.div_ceil(lanes::<A>());
        for first in (0..vectors).step_by(plan.depth) {
            let vectors = first..vectors.min(first + plan.depth);
            Block { channels, vectors, plan, scratch: &mut scratch }.run(&mut tensors);
        }
    }
}

/// A block of channel vectors with packed lines.
struct Block<'a, A: Arithmetic> {
    channels: Channels<'a, A>,
    vectors: Range<usize>,
    plan: Plan,
    scratch: &'a mut Scratch,
}

impl<'a, A: Arithmetic> Block<'a, A> {
    /// # Safety
    /// The channels exist, the sizes match the geometry, and the plan was made for the geometry.
    #[inline(always)]
    unsafe fn run(&mut self, tensors: &mut Tensors<'_, A::Number>) {
        let window = tensors.window;
        // SAFETY: the caller guarantees channels, sizes and plan.
        unsafe {
            self.prepare_weights(tensors);
            let mut first = 0;
            while first < window.output[1] {
                let pixels = self.plan.pixels.min(window.output[1] - first);
                self.columns(tensors, first..first + pixels);
                first += pixels;
            }
        }
    }

    /// Computes a range of columns of every output row.
    ///
    /// # Safety
    /// As for [`Self::run`]; the weights are packed.
    #[inline(always)]
    unsafe fn columns(&mut self, tensors: &mut Tensors<'_, A::Number>, columns: Range<usize>) {
        let window = tensors.window;
        let mut prepared = [usize::MAX; MOST_LINES];
        for row in tensors.rows.clone() {
            let taps = window.taps(0, row);
            let mut lines = [0; MOST_LINES];
            let mut slot = if taps.is_empty() { 0 } else { window.place(0, row, taps.start) % self.plan.lines };
            // SAFETY: the caller guarantees channels, sizes, plan and packed weights.
            unsafe {
                for tap in taps.clone() {
                    let line = window.place(0, row, tap);
                    lines[tap] = self.line(tensors, line, slot, columns.start, &mut prepared);
                    slot += window.dilation[0];
                    slot -= if slot < self.plan.lines { 0 } else { self.plan.lines };
                }
                for index in 0..self.vectors.len() {
                    self.row(tensors, index, row, columns.clone(), taps.clone(), &lines);
                }
            }
        }
    }

    /// The channels of a vector. The last vector overlaps the previous vector, which is faster than a partial vector.
    #[inline(always)]
    fn channels(&self, index: usize) -> Channels<'a, A> {
        let first = ((self.vectors.start + index) * lanes::<A>()).min(self.channels.all - self.channels.lanes);
        Channels { first, ..self.channels }
    }

    /// # Safety
    /// As for [`Self::run`].
    #[inline(always)]
    unsafe fn prepare_weights(&mut self, tensors: &Tensors<'_, A::Number>) {
        let mut to = self.scratch.weights.as_mut_ptr().cast::<u32>();
        for index in 0..self.vectors.len() {
            let channels = self.channels(index);
            for row in 0..tensors.window.kernel[0] {
                let mut padding = channels.arithmetic.empty();
                // SAFETY: the caller guarantees the weights, and the plan reserves room for the packed weights.
                unsafe {
                    for group in 0..self.plan.groups {
                        let weights = channels.weights(tensors.window, tensors.weights.as_ptr(), row, group);
                        padding = channels.arithmetic.less_padding(padding, weights);
                        channels.arithmetic.write(to.add((1 + group) * lanes::<A>()), weights);
                    }
                    channels.arithmetic.write(to, padding);
                    to = to.add((1 + self.plan.groups) * lanes::<A>());
                }
            }
        }
    }

    /// Initial accumulators for receptive fields with `rows` kernel rows in the image.
    ///
    /// # Safety
    /// As for [`Self::run`]; the weights of `rows` kernel rows are packed.
    #[inline(always)]
    unsafe fn start(&self, channel: usize, weights: *const u32, rows: usize) -> A::Vector {
        let arithmetic = self.channels.arithmetic;
        let mut sum = arithmetic.start(channel, self.channels.lanes);
        if A::PADDING_ADDS {
            for row in 0..rows {
                // SAFETY: the caller guarantees packed weights of `rows` kernel rows.
                let padding = unsafe { arithmetic.read(weights.add(row * (self.plan.groups + 1) * lanes::<A>())) };
                sum = arithmetic.plus(sum, padding);
            }
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
        tensors: &Tensors<'_, A::Number>,
        line: usize,
        slot: usize,
        first: usize,
        prepared: &mut [usize; MOST_LINES],
    ) -> usize {
        let window = tensors.window;
        let length = self.plan.vectors * lanes::<A>();
        if prepared[slot] != line {
            prepared[slot] = line;
            let column = (first * window.stride[1]).cast_signed() - window.padding[1].cast_signed();
            for index in 0..self.vectors.len() {
                // SAFETY: the caller guarantees the line, and the plan reserves room for the packed lines.
                unsafe {
                    let line = tensors.input.as_ptr().add(line * window.input[1] * tensors.channels);
                    let at = (index * self.plan.lines + slot) * length;
                    let to = self.scratch.lines.as_mut_ptr().cast::<u32>().add(at);
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
        tensors: &mut Tensors<'_, A::Number>,
        index: usize,
        row: usize,
        columns: Range<usize>,
        taps: Range<usize>,
        lines: &[usize; MOST_LINES],
    ) {
        let (window, all, channel) = (tensors.window, tensors.channels, self.channels(index).first);
        let Plan { groups, vectors, window_step, lines: count, .. } = self.plan;
        let at = ((row - tensors.rows.start) * window.output[1] + columns.start) * all + channel;
        let mut to =
            To { first: tensors.output.as_mut_ptr().wrapping_add(at), step: all, channel, lanes: self.channels.lanes };
        // SAFETY: the caller guarantees channels, sizes, plan and packed lines.
        unsafe {
            let rows = index * window.kernel[0] + taps.start;
            let weights = self.scratch.weights.as_ptr().cast::<u32>().add(rows * (groups + 1) * lanes::<A>());
            let mut from = self.scratch.lines.as_ptr().cast::<u32>().add(index * count * vectors * lanes::<A>());
            let start = self.start(channel, weights, taps.len());
            let mut pixel = 0;
            while pixel < columns.len() {
                let sums = self.accumulate(from, weights, &lines[taps.clone()], start);
                self.channels.arithmetic.finish(sums, columns.len() - pixel, to);
                to.first = to.first.wrapping_add(PIXELS * all);
                from = from.wrapping_add(PIXELS * window_step * lanes::<A>());
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
        from: *const u32,
        weights: *const u32,
        lines: &[usize],
        start: A::Vector,
    ) -> [A::Vector; PIXELS] {
        let Plan { window_step, groups, group_step, .. } = self.plan;
        // SAFETY: the caller guarantees packed vectors and weights.
        unsafe {
            match (A::TAPS, window_step, groups, group_step) {
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
        from: *const u32,
        mut weights: *const u32,
        lines: &[usize],
        start: A::Vector,
    ) -> [A::Vector; PIXELS] {
        let arithmetic = self.channels.arithmetic;
        let Plan { groups, window_step, group_step, .. } = self.plan;
        let [window_step, groups, group_step] =
            if GROUPS == 0 { [window_step, groups, group_step] } else { [WINDOW, GROUPS, GROUP] };
        let mut sums = [start; PIXELS];
        for line in lines {
            // SAFETY: the caller guarantees packed vectors and weights.
            unsafe {
                let from = from.add(*line);
                for group in 0..groups {
                    let weight = arithmetic.read(weights.add((1 + group) * lanes::<A>()));
                    for (pixel, sum) in sums.iter_mut().enumerate() {
                        let at = (pixel * window_step + group * group_step) * lanes::<A>();
                        *sum = arithmetic.add(*sum, arithmetic.read(from.add(at)), weight);
                    }
                }
                weights = weights.add((1 + groups) * lanes::<A>());
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
unsafe fn one_by_one<A: Arithmetic>(channels: &Channels<'_, A>, tensors: &mut Tensors<'_, A::Number>) {
    let (window, arithmetic) = (tensors.window, channels.arithmetic);
    for (pixel, index) in (tensors.rows.start * window.output[1]..tensors.rows.end * window.output[1]).zip(0..) {
        let (row, column) = (pixel / window.output[1], pixel % window.output[1]);
        let mut sum = arithmetic.start(channels.first, channels.lanes);
        // SAFETY: the caller guarantees channels and sizes, and `taps` yields kernel positions within the image.
        unsafe {
            for tap in window.taps(0, row) {
                let line = tensors.input.as_ptr().add(window.place(0, row, tap) * window.input[1] * channels.all);
                for group in 0..window.kernel[1].div_ceil(A::TAPS) {
                    let weights = channels.weights(window, tensors.weights.as_ptr(), tap, group);
                    let place = column * window.stride[1] + group * A::TAPS * window.dilation[1];
                    let place = place.cast_signed() - window.padding[1].cast_signed();
                    let numbers = channels.vector(window, line, place);
                    sum = arithmetic.add(arithmetic.less_padding(sum, weights), numbers, weights);
                }
            }
            let first = tensors.output.as_mut_ptr().add(index * channels.all + channels.first);
            let to = To { first, step: channels.all, channel: channels.first, lanes: channels.lanes };
            arithmetic.finish([sum], 1, to);
        }
    }
}
