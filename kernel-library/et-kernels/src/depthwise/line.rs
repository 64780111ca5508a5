//! Lines of an image, and weights, as vectors of neighbouring pixels of some channels.
#![allow(unsafe_code)] // Tensors are read through pointers; bounds are checked once for a call.

use core::array::from_fn;
use core::ops::Range;

use super::arithmetic::{Arithmetic, lanes};
use super::plan::Plan;
use crate::window::Window;

/// The most lanes that vectors have.
const MOST_LANES: usize = 16;

/// Pixels of channels-last tensors, of which some channels are wanted.
#[derive(Clone, Copy)]
pub struct Channels<'a, A: Arithmetic> {
    /// How numbers become vectors.
    pub arithmetic: A,
    /// All channels.
    pub all: usize,
    /// The first one that is wanted.
    pub first: usize,
    /// How many are: all lanes, unless there are fewer channels.
    pub lanes: usize,
    /// A vector of padding.
    pub padding: &'a [A::Number; MOST_LANES],
    /// A vector of zeros.
    pub zeros: &'a [A::Number; MOST_LANES],
}

impl<A: Arithmetic> Channels<'_, A> {
    /// The vector, and the channels of one more pixel.
    ///
    /// # Safety
    /// `pixel` is where that pixel's wanted channels are.
    #[inline(always)]
    unsafe fn shift_in(&self, vector: A::Vector, pixel: *const A::Number) -> A::Vector {
        // SAFETY: the caller says so.
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

    /// The vectors of a line from a column on, which may be before the image.
    ///
    /// # Safety
    /// `line` is a line of the image, and `to` has room for the vectors of a line.
    #[inline(always)]
    pub unsafe fn prepare_line(
        &self,
        plan: &Plan,
        window: &Window,
        line: *const A::Number,
        column: isize,
        to: *mut u32,
    ) {
        // SAFETY: what the caller says is what these ask for.
        unsafe {
            match (window.dilation[1], plan.stride) {
                (1, 1) => self.neighbours::<1>(plan.vectors, window.input[1], line, column, to),
                (1, 2) if A::TAPS >= 2 => self.neighbours::<2>(plan.vectors, window.input[1], line, column, to),
                _ => self.apart(plan, window, line, column, to),
            }
        }
    }

    /// Where a pixel's wanted channels are, or padding.
    #[inline(always)]
    fn pixel(&self, columns: usize, line: *const A::Number, column: isize) -> *const A::Number {
        if column.cast_unsigned() < columns {
            line.wrapping_add(column.cast_unsigned() * self.all + self.first)
        } else {
            self.padding.as_ptr()
        }
    }

    /// [`Self::prepare_line`], where each vector has `STRIDE` more of the neighbours than the one before.
    ///
    /// # Safety
    /// As there.
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
        // The vectors before the image's first pixels; then those whose pixels are all within it, if all lanes are wanted.
        let start = column + filled.cast_signed();
        let is_whole = self.lanes == lanes::<A>();
        let before = (-start).max(0).cast_unsigned().div_ceil(STRIDE).min(vectors);
        let before = if is_whole { before } else { vectors };
        let start = start + (before * STRIDE).cast_signed();
        let inside = columns.saturating_sub(start.cast_unsigned()) / STRIDE;
        let end = before + inside.min(vectors - before);
        // SAFETY: the caller vouches for the line and the room, and pixels are within the line.
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

    /// Vectors of [`Self::neighbours`] that have pixels outside of the image.
    ///
    /// # Safety
    /// As there.
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
            // SAFETY: the caller vouches for the line and the room.
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

    /// [`Self::prepare_line`], with pixels any distance apart.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn apart(&self, plan: &Plan, window: &Window, line: *const A::Number, column: isize, to: *mut u32) {
        // SAFETY: the caller vouches for the line and the room.
        unsafe {
            for index in 0..plan.vectors {
                let vector = self.vector(window, line, column + (index * plan.stride).cast_signed());
                self.arithmetic.write(to.add(index * lanes::<A>()), vector);
            }
        }
    }

    /// The vector that begins at a column.
    ///
    /// # Safety
    /// `line` is a line of the image.
    #[inline(always)]
    pub unsafe fn vector(&self, window: &Window, line: *const A::Number, column: isize) -> A::Vector {
        let mut vector = self.arithmetic.empty();
        for tap in 0..A::TAPS {
            let column = column + (tap * window.dilation[1]).cast_signed();
            // SAFETY: the caller vouches for the line.
            vector = unsafe { self.shift_in(vector, self.pixel(window.input[1], line, column)) };
        }
        vector
    }

    /// The weights of a group of taps.
    ///
    /// # Safety
    /// `weights` are those of the window, which has the row.
    #[inline(always)]
    pub unsafe fn weights(&self, window: &Window, weights: *const A::Number, row: usize, group: usize) -> A::Vector {
        let mut vector = self.arithmetic.empty();
        for tap in group * A::TAPS..(group + 1) * A::TAPS {
            let from = if tap < window.kernel[1] {
                weights.wrapping_add((row * window.kernel[1] + tap) * self.all + self.first)
            } else {
                self.zeros.as_ptr()
            };
            // SAFETY: the caller vouches for the weights.
            vector = unsafe { self.shift_in(vector, from) };
        }
        self.arithmetic.weights(vector)
    }
}
