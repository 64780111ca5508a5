//! int8 depthwise convolution: int32 accumulators, requantized to int8. Blocks of channels are convolved over the whole
//! image, so that the working set stays in cache.
//!
//! Each input line is packed once to vectors of neighbouring pixels, with padding on both sides. Every receptive field
//! is then a sum of dot products of packed vectors.
#![allow(unsafe_code)] // Tensors are read through pointers; bounds are checked once for a call.

use core::mem::MaybeUninit;
use core::ops::Range;

use et_core::Result;
use et_simd::{Activation, Bytes, Dot, DotWork, Dots, Integer, Level, Simd};

use super::PIXELS;
use super::lines::{Channels, LINE_WORDS, MOST_LINES, Plan, WEIGHT_WORDS, lanes};
use crate::check::ensure;
use crate::quantized::Rescale;
use crate::rows::MOST_LANES;
use crate::window::{Image, Window};

/// Requantization of the accumulators.
#[derive(Clone, Copy, Debug)]
pub struct Requantization<'a> {
    /// Per-channel scale: input scale times weight scale, divided by the output scale unless `hardswish` is set.
    pub scale: &'a [f32],
    /// The output zero point.
    pub zero_point: i32,
    /// The output bounds of a fused activation.
    pub range: [i8; 2],
    /// The reciprocal output scale, if hard swish (`x * clamp(x + 3, 0, 6) / 6`) is applied before requantization.
    pub hardswish: Option<f32>,
}

/// Convolves the output rows of an image, as [`super::depthwise`]. `zero_point` is the input zero point; `bias` is int32
/// in units of input scale x weight scale.
#[inline]
pub fn depthwise_bytes(
    level: Level,
    image: Image<'_, i8>,
    zero_point: i8,
    weights: &[i8],
    bias: &[i32],
    requantization: Requantization,
) -> Result<()> {
    run(Dots::fastest(level), image, Filter { zero_point, weights, bias, requantization })
}

#[inline]
fn run(dots: Dots, image: Image<'_, i8>, filter: Filter<'_>) -> Result<()> {
    image.check()?;
    image.check_weights(filter.weights.len(), filter.bias.len())?;
    ensure(filter.requantization.scale.len() == image.channels)?;
    dots.run(Depthwise { image, filter });
    Ok(())
}

/// Weights, bias and requantization.
#[derive(Clone, Copy)]
struct Filter<'a> {
    zero_point: i8,
    weights: &'a [i8],
    bias: &'a [i32],
    requantization: Requantization<'a>,
}

struct Depthwise<'a> {
    image: Image<'a, i8>,
    filter: Filter<'a>,
}

/// Cache-line aligned memory for packed weights and lines.
#[repr(align(64))]
struct Scratch {
    weights: [MaybeUninit<i32>; WEIGHT_WORDS],
    lines: [MaybeUninit<i32>; LINE_WORDS],
}

impl DotWork for Depthwise<'_> {
    type Output = ();
    #[inline(always)]
    fn run<D: Dot>(mut self, dot: D) {
        let (filter, all) = (self.filter, self.image.channels);
        let plan = Plan::new::<D>(self.image.window);
        let padding = [filter.zero_point; MOST_LANES];
        let mut scratch = Scratch { weights: [MaybeUninit::uninit(); _], lines: [MaybeUninit::uninit(); _] };
        let channels = Channels { dot, all, first: 0, lanes: lanes::<D>().min(all), padding: &padding };
        // SAFETY: each block has existing channels, and the sizes match the geometry.
        unsafe {
            let Some(plan) = plan else {
                for first in (0..all).step_by(lanes::<D>()) {
                    let first = first.min(all - channels.lanes);
                    one_by_one(&Channels { first, ..channels }, filter, &mut self.image);
                }
                return;
            };
            let vectors = all.div_ceil(lanes::<D>());
            for first in (0..vectors).step_by(plan.depth) {
                let vectors = first..vectors.min(first + plan.depth);
                Block { channels, filter, vectors, plan, scratch: &mut scratch }.run(&mut self.image);
            }
        }
    }
}

impl Filter<'_> {
    /// The bias of `lanes` channels: the initial accumulators.
    #[inline(always)]
    fn start<S: Simd>(self, isa: S, channel: usize, lanes: usize) -> S::I32 {
        let all = self.bias.get(channel..).unwrap_or_default();
        // SAFETY: `all` has a vector of elements, or `bias` has 16, at least the lanes of any ISA.
        unsafe {
            if lanes == S::LANES && all.len() >= lanes {
                return isa.read_i32(all.as_ptr());
            }
            let mut bias = [0; MOST_LANES];
            for (to, from) in bias.iter_mut().zip(all) {
                *to = *from;
            }
            isa.read_i32(bias.as_ptr())
        }
    }

    /// Requantizes and stores the first `count` of `P` pixels from `to` on.
    ///
    /// # Safety
    /// `to` has room for the channels of each pixel.
    #[inline(always)]
    unsafe fn store<D: Dot, const P: usize>(
        self,
        channels: &Channels<'_, D>,
        sums: [Bytes<D>; P],
        count: usize,
        to: *mut i8,
    ) {
        let isa = channels.dot.isa();
        let Requantization { scale, zero_point, range, hardswish } = self.requantization;
        let rescale = Rescale::new(isa, 1.0, zero_point, range);
        let scale = isa.load(scale, channels.first);
        let mut bytes = sums;
        if let Some(inverse) = hardswish {
            for bytes in &mut bytes {
                let number = Activation::HardSwish.apply(isa, bytes.to_float() * scale);
                *bytes = rescale.bytes(number * isa.splat(inverse));
            }
        } else {
            for bytes in &mut bytes {
                *bytes = rescale.bytes(bytes.to_float() * scale);
            }
        }
        let pixel = |index: usize| to.wrapping_add(index * channels.all);
        // SAFETY: the caller guarantees room for the pixels.
        unsafe {
            if count >= P && channels.lanes == lanes::<D>() {
                for (index, bytes) in bytes.into_iter().enumerate() {
                    isa.write_i8(pixel(index), bytes);
                }
                return;
            }
            for (index, bytes) in bytes.into_iter().enumerate() {
                if index < count {
                    isa.write_i8_part(pixel(index), channels.lanes, bytes);
                }
            }
        }
    }
}

/// The products of the zero point and weights, which padding and every element contribute.
#[inline(always)]
fn of_zero_point<D: Dot>(channels: &Channels<'_, D>, weights: Bytes<D>) -> Bytes<D> {
    let mut vector = channels.empty();
    for _ in 0..D::TAPS {
        // SAFETY: the array has 16 elements, at least the lanes of any ISA.
        vector = unsafe { channels.dot.shift_in(vector, [channels.padding.as_ptr()]) };
    }
    channels.dot.add_products(channels.empty(), vector, weights)
}

/// A block of channel vectors with packed lines.
struct Block<'a, D> {
    channels: Channels<'a, D>,
    filter: Filter<'a>,
    vectors: Range<usize>,
    plan: Plan,
    scratch: &'a mut Scratch,
}

impl<'a, D: Dot> Block<'a, D> {
    /// # Safety
    /// The channels exist, the sizes match the geometry, and the plan was made for the geometry.
    #[inline(always)]
    unsafe fn run(&mut self, image: &mut Image<'_, i8>) {
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
unsafe fn one_by_one<D: Dot>(channels: &Channels<'_, D>, filter: Filter<'_>, image: &mut Image<'_, i8>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::{assert_nearly_equal, bytes, numbers};
    use crate::window::test::{in_parts, large_windows, plain, windows};
    use std::vec::Vec;

    const ZERO_POINTS: [i32; 2] = [-11, 5];

    /// The tensors of a convolution.
    struct Case {
        window: Window,
        channels: usize,
        input: Vec<i8>,
        weights: Vec<i8>,
        bias: Vec<i32>,
        scale: Vec<f32>,
        hardswish: Option<f32>,
    }

    impl Case {
        fn new(window: Window, channels: usize, hardswish: Option<f32>) -> Self {
            let bias = numbers(channels, 3).iter().map(|number| (number * 3000.0) as i32).collect();
            let scale = numbers(channels, 4).iter().map(|number| number.abs() * 0.003 + 1e-4).collect();
            let [input, weights] = [window.input, window.kernel].map(|[rows, columns]| rows * columns * channels);
            let (input, weights) = (bytes(input, 1), bytes(weights, 2));
            Self { window, channels, input, weights, bias, scale, hardswish }
        }

        fn expected(&self) -> Vec<i8> {
            plain(&self.window, self.channels, |channel, taps| {
                let byte = |at: usize| i32::from(self.input[at]) - ZERO_POINTS[0];
                let products = taps.iter().map(|(weight, at)| byte(*at) * i32::from(self.weights[*weight]));
                let number = f64::from(products.sum::<i32>() + self.bias[channel]) * f64::from(self.scale[channel]);
                let number = self
                    .hardswish
                    .map_or(number, |inverse| number * (number + 3.0).clamp(0.0, 6.0) / 6.0 * f64::from(inverse));
                (number.round_ties_even() + f64::from(ZERO_POINTS[1])).clamp(5.0, 100.0) as i8
            })
        }

        fn actual(&self, dots: Dots) -> Vec<i8> {
            let Self { weights, bias, scale, hardswish, .. } = self;
            let requantization =
                Requantization { scale, zero_point: ZERO_POINTS[1], range: [5, 100], hardswish: *hardswish };
            let filter = Filter { zero_point: ZERO_POINTS[0] as i8, weights, bias, requantization };
            in_parts(&self.window, self.channels, &self.input, 0, |image| run(dots, image, filter))
        }
    }

    /// Fails unless every dot product variant has the expected results, bit-identical across variants.
    fn assert_right(case: &Case) {
        let (expected, portable) = (case.expected(), case.actual(Dots::Portable));
        for dots in Level::available().flat_map(Dots::available) {
            let what = std::format!("{:?} {} {:?} {dots:?}", case.window, case.channels, case.hardswish);
            let actual = case.actual(dots);
            assert_nearly_equal(&what, &actual, &expected);
            assert!(actual == portable, "{what}: not what portable code computes");
        }
    }

    #[test]
    fn it_is_a_sum_over_the_window_as_bytes() {
        for window in windows() {
            for channels in [1, 3, 8, 16, 17, 40, 72, 100] {
                assert_right(&Case::new(window, channels, None));
                assert_right(&Case::new(window, channels, Some(40.0)));
            }
        }
    }

    #[test]
    fn windows_and_images_may_be_large() {
        for window in large_windows() {
            for channels in [16, 72] {
                assert_right(&Case::new(window, channels, Some(3.0)));
            }
        }
    }

    #[test]
    fn the_greatest_products_do_not_saturate() {
        for weight in [-128, 127] {
            for input in [-128, 127] {
                let mut case = Case::new(windows()[0], 16, None);
                case.input.fill(input);
                case.weights.fill(weight);
                case.scale.fill(3e-4);
                assert_right(&case);
            }
        }
    }
}
