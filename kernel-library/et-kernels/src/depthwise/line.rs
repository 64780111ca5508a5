//! Packs input lines and weights to vectors of neighbouring pixels.
#![allow(unsafe_code)] // Tensors are read through pointers; bounds are checked once for a call.

use core::array::from_fn;
use core::ops::Range;

use super::arithmetic::{Arithmetic, lanes};
use super::plan::Plan;
use crate::window::Window;

/// The largest number of lanes of any ISA.
const MOST_LANES: usize = 16;

/// A range of channels of an NHWC tensor.
#[derive(Clone, Copy)]
pub struct Channels<'a, A: Arithmetic> {
    /// The arithmetic, which packs elements to vectors.
    pub arithmetic: A,
    /// The channels of the tensor.
    pub all: usize,
    /// The first selected channel.
    pub first: usize,
    /// The number of selected channels: a vector, or fewer for tensors with fewer channels.
    pub lanes: usize,
    /// A vector of padding.
    pub padding: &'a [A::Number; MOST_LANES],
    /// A vector of zeros.
    pub zeros: &'a [A::Number; MOST_LANES],
}

impl<A: Arithmetic> Channels<'_, A> {
    /// Shifts the selected channels of the next pixel into the vector.
    ///
    /// # Safety
    /// `pixel` is valid for the selected channels.
    #[inline(always)]
    unsafe fn shift_in(&self, vector: A::Vector, pixel: *const A::Number) -> A::Vector {
        // SAFETY: the caller guarantees the selected channels.
        unsafe {
            if self.lanes == lanes::<A>() {
                return self.arithmetic.shift_in(vector, [pixel]);
            }
            let mut numbers = *self.zeros;
            for (lane, number) in numbers.iter_mut().enumerate().take(self.lanes) {
                *number = *pixel.add(lane);
            }
            self.arithmetic.shift_in(vector, [numbers.as_ptr()])
        }
    }

    /// Packs a line from `column` on, which may be negative (left padding).
    ///
    /// # Safety
    /// `line` is an input line, and `to` has room for the packed line.
    #[inline(always)]
    pub unsafe fn prepare_line(
        &self,
        plan: &Plan,
        window: &Window,
        line: *const A::Number,
        column: isize,
        to: *mut u32,
    ) {
        // SAFETY: the caller guarantees line and room, the contract of both functions.
        unsafe {
            match (window.dilation[1], plan.stride) {
                (1, 1) => self.neighbours::<1>(plan.vectors, window.input[1], line, column, to),
                (1, 2) if A::TAPS >= 2 => self.neighbours::<2>(plan.vectors, window.input[1], line, column, to),
                _ => self.apart(plan, window, line, column, to),
            }
        }
    }

    /// The selected channels of a pixel, or the padding.
    #[inline(always)]
    fn pixel(&self, columns: usize, line: *const A::Number, column: isize) -> *const A::Number {
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
        line: *const A::Number,
        column: isize,
        to: *mut u32,
    ) {
        let arithmetic = self.arithmetic;
        let mut vector = arithmetic.empty();
        let filled = A::TAPS - STRIDE;
        // The vectors that start in the left padding; then the vectors entirely within the image, if every lane is
        // selected.
        let start = column + filled.cast_signed();
        let is_whole = self.lanes == lanes::<A>();
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
            let mut place = to.add(before * lanes::<A>());
            for _ in before..end {
                let pixels: [_; STRIDE] = from_fn(
                    #[inline(always)]
                    |pixel| from.wrapping_add(pixel * self.all),
                );
                vector = arithmetic.shift_in(vector, pixels);
                arithmetic.write(place, vector);
                from = from.wrapping_add(STRIDE * self.all);
                place = place.add(lanes::<A>());
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
        mut vector: A::Vector,
        indices: Range<usize>,
        columns: usize,
        line: *const A::Number,
        column: isize,
        to: *mut u32,
    ) -> A::Vector {
        for index in indices {
            // SAFETY: the caller guarantees line and room.
            unsafe {
                for pixel in 0..STRIDE {
                    let column = column + (index * STRIDE + pixel).cast_signed();
                    vector = self.shift_in(vector, self.pixel(columns, line, column));
                }
                self.arithmetic.write(to.add(index * lanes::<A>()), vector);
            }
        }
        vector
    }

    /// [`Self::prepare_line`] for any dilation.
    ///
    /// # Safety
    /// As for [`Self::prepare_line`].
    #[inline(always)]
    unsafe fn apart(&self, plan: &Plan, window: &Window, line: *const A::Number, column: isize, to: *mut u32) {
        // SAFETY: the caller guarantees line and room.
        unsafe {
            for index in 0..plan.vectors {
                let vector = self.vector(window, line, column + (index * plan.stride).cast_signed());
                self.arithmetic.write(to.add(index * lanes::<A>()), vector);
            }
        }
    }

    /// Packs the vector that starts at a column.
    ///
    /// # Safety
    /// `line` is an input line.
    #[inline(always)]
    pub unsafe fn vector(&self, window: &Window, line: *const A::Number, column: isize) -> A::Vector {
        let mut vector = self.arithmetic.empty();
        for tap in 0..A::TAPS {
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
    pub unsafe fn weights(&self, window: &Window, weights: *const A::Number, row: usize, group: usize) -> A::Vector {
        let mut vector = self.arithmetic.empty();
        for tap in group * A::TAPS..(group + 1) * A::TAPS {
            let from = if tap < window.kernel[1] {
                weights.wrapping_add((row * window.kernel[1] + tap) * self.all + self.first)
            } else {
                self.zeros.as_ptr()
            };
            // SAFETY: the caller guarantees the weights.
            vector = unsafe { self.shift_in(vector, from) };
        }
        self.arithmetic.weights(vector)
    }
}
