//! Packs input lines and weights of int8 depthwise convolution to vectors of neighbouring pixels.
#![allow(unsafe_code)] // Tensors are read through pointers; bounds are checked once for a call.

use core::array::from_fn;
use core::ops::Range;

use et_simd::{Bytes, Dot, Simd};

use super::PIXELS;
use crate::rows::MOST_LANES;
use crate::window::Window;

/// Size of the line buffer in 32-bit words: lines, weights and output fit L1 together.
pub const LINE_WORDS: usize = 6144;
/// Size of the weight buffer in 32-bit words.
pub const WEIGHT_WORDS: usize = 2048;
/// The maximum number of channel vectors per block: four vectors of int8 are a cache line.
const MOST_DEPTH: usize = 4;
/// The maximum number of packed lines.
pub const MOST_LINES: usize = 32;

/// Lanes per vector.
pub const fn lanes<D: Dot>() -> usize {
    <D::Isa as Simd>::LANES
}

/// The layout of packed lines. A kernel row is split into groups of [`Dot::TAPS`] positions; a packed line has
/// vectors of neighbouring pixels, each shared by groups of several receptive fields.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Groups per kernel row.
    pub groups: usize,
    /// Pixels from a vector to the next.
    pub stride: usize,
    /// Vectors from a receptive field to the next.
    pub window_step: usize,
    /// Vectors from a group to the next.
    pub group_step: usize,
    /// Lines in the ring buffer: the vertical extent of a receptive field.
    pub lines: usize,
    /// Output pixels per packed line, a multiple of [`PIXELS`].
    pub pixels: usize,
    /// Vectors per line.
    pub vectors: usize,
    /// Channel vectors per block.
    pub depth: usize,
}

impl Plan {
    /// The plan, or `None` if the kernel is too large.
    pub fn new<D: Dot>(window: &Window) -> Option<Self> {
        let groups = window.kernel[1].div_ceil(D::TAPS);
        let reach = D::TAPS.checked_mul(window.dilation[1])?;
        let stride = if reach.is_multiple_of(window.stride[1]) { window.stride[1] } else { 1 };
        let [window_step, group_step] = [window.stride[1] / stride, reach / stride];
        let lines = (window.kernel[0] - 1) * window.dilation[0] + 1;
        let weights = window.kernel[0].checked_mul(groups + 1)?;
        let first = (groups - 1).checked_mul(group_step)?.checked_add(1)?;
        let room = LINE_WORDS / lanes::<D>() / lines;
        let most = room.checked_sub(first)? / window_step + 1;
        let pixels = (most / PIXELS * PIXELS).min(window.output[1].next_multiple_of(PIXELS));
        let vectors = first + pixels.checked_sub(1)? * window_step;
        let depth = (room / vectors).min(WEIGHT_WORDS / lanes::<D>() / weights).min(MOST_DEPTH);
        let plan = Self { groups, stride, window_step, group_step, lines, pixels, vectors, depth };
        (lines <= MOST_LINES && depth > 0).then_some(plan)
    }
}

/// A range of channels of an NHWC tensor.
#[derive(Clone, Copy)]
pub struct Channels<'a, D> {
    /// The dot product, which packs elements to vectors.
    pub dot: D,
    /// The channels of the tensor.
    pub all: usize,
    /// The first selected channel.
    pub first: usize,
    /// The number of selected channels: a vector, or fewer for tensors with fewer channels.
    pub lanes: usize,
    /// A vector of padding: the input zero point.
    pub padding: &'a [i8; MOST_LANES],
}

impl<D: Dot> Channels<'_, D> {
    /// A vector without elements.
    #[inline(always)]
    pub fn empty(&self) -> Bytes<D> {
        self.dot.isa().splat_i32(0)
    }

    /// Shifts the selected channels of the next pixel into the vector.
    ///
    /// # Safety
    /// `pixel` is valid for the selected channels.
    #[inline(always)]
    unsafe fn shift_in(&self, vector: Bytes<D>, pixel: *const i8) -> Bytes<D> {
        // SAFETY: the caller guarantees the selected channels.
        unsafe {
            if self.lanes == lanes::<D>() {
                return self.dot.shift_in(vector, [pixel]);
            }
            let mut numbers = [0; MOST_LANES];
            for (lane, number) in numbers.iter_mut().enumerate().take(self.lanes) {
                *number = *pixel.add(lane);
            }
            self.dot.shift_in(vector, [numbers.as_ptr()])
        }
    }

    /// Packs a line from `column` on, which may be negative (left padding).
    ///
    /// # Safety
    /// `line` is an input line, and `to` has room for the packed line.
    #[inline(always)]
    pub unsafe fn prepare_line(&self, plan: &Plan, window: &Window, line: *const i8, column: isize, to: *mut i32) {
        // SAFETY: the caller guarantees line and room, the contract of both functions.
        unsafe {
            match (window.dilation[1], plan.stride) {
                (1, 1) => self.neighbours::<1>(plan.vectors, window.input[1], line, column, to),
                (1, 2) if D::TAPS >= 2 => self.neighbours::<2>(plan.vectors, window.input[1], line, column, to),
                _ => self.apart(plan, window, line, column, to),
            }
        }
    }

    /// The selected channels of a pixel, or the padding.
    #[inline(always)]
    fn pixel(&self, columns: usize, line: *const i8, column: isize) -> *const i8 {
        if column.cast_unsigned() < columns {
            line.wrapping_add(column.cast_unsigned() * self.all + self.first)
        } else {
            self.padding.as_ptr()
        }
    }

    /// [`Self::prepare_line`] with a compile-time pixel stride: each vector shifts in `STRIDE` pixels.
    ///
    /// # Safety
    /// As for [`Self::prepare_line`].
    #[inline(always)]
    unsafe fn neighbours<const STRIDE: usize>(
        &self,
        vectors: usize,
        columns: usize,
        line: *const i8,
        column: isize,
        to: *mut i32,
    ) {
        let mut vector = self.empty();
        let filled = D::TAPS - STRIDE;
        // The vectors that start in the left padding; then the vectors entirely within the image, if every lane is
        // selected.
        let start = column + filled.cast_signed();
        let is_whole = self.lanes == lanes::<D>();
        let before = (-start).max(0).cast_unsigned().div_ceil(STRIDE).min(vectors);
        let before = if is_whole { before } else { vectors };
        let start = start + (before * STRIDE).cast_signed();
        let inside = columns.saturating_sub(start.cast_unsigned()) / STRIDE;
        let end = before + inside.min(vectors - before);
        // SAFETY: the caller guarantees line and room, and the pixels are within the line.
        unsafe {
            for index in 0..filled {
                vector = self.shift_in(vector, self.pixel(columns, line, column + index.cast_signed()));
            }
            vector = self.border::<STRIDE>(vector, 0..before, columns, line, column + filled.cast_signed(), to);
            let mut from = line.wrapping_add(start.cast_unsigned().wrapping_mul(self.all).wrapping_add(self.first));
            let mut place = to.add(before * lanes::<D>());
            for _ in before..end {
                let pixels: [_; STRIDE] = from_fn(
                    #[inline(always)]
                    |pixel| from.wrapping_add(pixel * self.all),
                );
                vector = self.dot.shift_in(vector, pixels);
                self.dot.isa().write_i32(place, vector);
                from = from.wrapping_add(STRIDE * self.all);
                place = place.add(lanes::<D>());
            }
            self.border::<STRIDE>(vector, end..vectors, columns, line, column + filled.cast_signed(), to);
        }
    }

    /// The vectors of [`Self::neighbours`] that include padding.
    ///
    /// # Safety
    /// As for [`Self::prepare_line`].
    #[inline(always)]
    unsafe fn border<const STRIDE: usize>(
        &self,
        mut vector: Bytes<D>,
        indices: Range<usize>,
        columns: usize,
        line: *const i8,
        column: isize,
        to: *mut i32,
    ) -> Bytes<D> {
        for index in indices {
            // SAFETY: the caller guarantees line and room.
            unsafe {
                for pixel in 0..STRIDE {
                    let column = column + (index * STRIDE + pixel).cast_signed();
                    vector = self.shift_in(vector, self.pixel(columns, line, column));
                }
                self.dot.isa().write_i32(to.add(index * lanes::<D>()), vector);
            }
        }
        vector
    }

    /// [`Self::prepare_line`] for any dilation.
    ///
    /// # Safety
    /// As for [`Self::prepare_line`].
    #[inline(always)]
    unsafe fn apart(&self, plan: &Plan, window: &Window, line: *const i8, column: isize, to: *mut i32) {
        // SAFETY: the caller guarantees line and room.
        unsafe {
            for index in 0..plan.vectors {
                let vector = self.vector(window, line, column + (index * plan.stride).cast_signed());
                self.dot.isa().write_i32(to.add(index * lanes::<D>()), vector);
            }
        }
    }

    /// Packs the vector that starts at a column.
    ///
    /// # Safety
    /// `line` is an input line.
    #[inline(always)]
    pub unsafe fn vector(&self, window: &Window, line: *const i8, column: isize) -> Bytes<D> {
        let mut vector = self.empty();
        for tap in 0..D::TAPS {
            let column = column + (tap * window.dilation[1]).cast_signed();
            // SAFETY: the caller guarantees the line.
            vector = unsafe { self.shift_in(vector, self.pixel(window.input[1], line, column)) };
        }
        vector
    }

    /// Packs the weights of a group of kernel positions.
    ///
    /// # Safety
    /// `weights` are the weights of the kernel, which has the row.
    #[inline(always)]
    pub unsafe fn weights(&self, window: &Window, weights: *const i8, row: usize, group: usize) -> Bytes<D> {
        let mut vector = self.empty();
        for tap in group * D::TAPS..(group + 1) * D::TAPS {
            let from = if tap < window.kernel[1] {
                weights.wrapping_add((row * window.kernel[1] + tap) * self.all + self.first)
            } else {
                const { &[0; MOST_LANES] }.as_ptr()
            };
            // SAFETY: the caller guarantees the weights.
            vector = unsafe { self.shift_in(vector, from) };
        }
        self.dot.second_factor(vector)
    }
}
