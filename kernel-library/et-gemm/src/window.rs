//! Finds the elements that a row of the product reads: pointers into the image, to padding, or to a copied window.
#![allow(unsafe_code, reason = "tables hold pointers into the image")]

use core::ops::Range;

use crate::shape::{Runs, Shape};

/// An image with what surrounds it.
pub struct Windows<'a, T> {
    /// The shape.
    pub shape: &'a Shape,
    /// Its runs.
    pub runs: Runs,
    /// The image; it is as long as the shape says.
    pub input: *const T,
    /// A run of padding.
    pub padding: *const T,
}

impl<T: Copy> Windows<'_, T> {
    /// Writes the pointers of `rows`: those of the first run of all rows, then of the second run, and so on.
    ///
    /// # Safety
    ///
    /// Rows are of the shape. `table` takes `rows.len() * runs.count` pointers, and `copies`, if runs have several
    /// pixels, a window for each row.
    pub unsafe fn fill(&self, group: usize, rows: Range<usize>, table: *mut *const T, copies: *mut T) {
        let count = rows.len();
        if self.shape.is_pointwise() {
            let first = rows.start * self.shape.pixel_stride + group * self.shape.channels;
            for row in 0..count {
                // SAFETY: the caller's promise.
                unsafe { table.add(row).write(self.input.wrapping_add(first + row * self.shape.pixel_stride)) };
            }
            return;
        }
        let [height, width] = self.shape.output;
        let window = self.runs.count * self.runs.length;
        let mut place = [rows.start / width / height, rows.start / width % height, rows.start % width];
        for row in 0..count {
            // SAFETY: the caller's promise.
            unsafe { self.fill_row(group, place, table.add(row), count, copies.wrapping_add(row * window)) };
            place[2] += 1;
            if place[2] == width {
                place = [place[0], place[1] + 1, 0];
            }
            if place[1] == height {
                place = [place[0] + 1, 0, place[2]];
            }
        }
    }

    /// Writes the pointers of one row, `step` apart.
    #[inline(always)]
    unsafe fn fill_row(&self, group: usize, place: [usize; 3], table: *mut *const T, step: usize, copy: *mut T) {
        let shape = self.shape;
        let top = (place[1] * shape.stride[0]).wrapping_sub(shape.padding[0]);
        let left = (place[2] * shape.stride[1]).wrapping_sub(shape.padding[1]);
        let across = shape.kernel[1] / self.runs.pixels;
        let reach = [(shape.kernel[0] - 1) * shape.dilation[0], (shape.kernel[1] - 1) * shape.dilation[1]];
        if top < shape.input[0]
            && top + reach[0] < shape.input[0]
            && left < shape.input[1]
            && left + reach[1] < shape.input[1]
        {
            // SAFETY: the caller's promise; the whole window is in the image.
            return unsafe { self.fill_inside(group, [place[0], top, left], across, table, step) };
        }
        let inside = left < shape.input[1] && left + self.runs.pixels <= shape.input[1];
        let copied = self.runs.pixels > 1 && !inside;
        let mut slot = table;
        for tap in 0..shape.kernel[0] {
            let y = top.wrapping_add(tap * shape.dilation[0]);
            let line = self.line(group, place[0], y);
            for index in 0..across {
                let run = index + tap * across;
                let x = left.wrapping_add(index * shape.dilation[1]);
                let pointer = match line {
                    None => self.padding,
                    // SAFETY: the caller's promise: room for a window.
                    Some(line) if copied => unsafe { self.copy(line, x, copy.add(run * self.runs.length)) },
                    Some(line) if x < shape.input[1] => line.wrapping_add(x * shape.pixel_stride),
                    Some(_) => self.padding,
                };
                // SAFETY: the caller's promise: room for all runs of all rows.
                unsafe { slot.write(pointer) };
                slot = slot.wrapping_add(step);
            }
        }
    }

    /// Writes the pointers of a row whose window is all in the image.
    #[inline(always)]
    unsafe fn fill_inside(&self, group: usize, place: [usize; 3], across: usize, table: *mut *const T, step: usize) {
        let shape = self.shape;
        let pixel = (place[0] * shape.input[0] + place[1]) * shape.input[1] + place[2];
        let mut line = self.input.wrapping_add(pixel * shape.pixel_stride + group * shape.channels);
        let mut slot = table;
        for _ in 0..shape.kernel[0] {
            let mut run = line;
            for _ in 0..across {
                // SAFETY: the caller's promise: room for all runs of all rows.
                unsafe { slot.write(run) };
                slot = slot.wrapping_add(step);
                run = run.wrapping_add(shape.dilation[1] * shape.pixel_stride);
            }
            line = line.wrapping_add(shape.dilation[0] * shape.input[1] * shape.pixel_stride);
        }
    }

    /// The start of a line of an image, if it is one.
    #[inline(always)]
    fn line(&self, group: usize, image: usize, y: usize) -> Option<*const T> {
        let [height, width] = self.shape.input;
        let start = (image * height).wrapping_add(y).wrapping_mul(width).wrapping_mul(self.shape.pixel_stride);
        (y < height).then(|| self.input.wrapping_add(start.wrapping_add(group * self.shape.channels)))
    }

    /// Copies a run that leaves the image at the left or right.
    unsafe fn copy(&self, line: *const T, left: usize, to: *mut T) -> *const T {
        let channels = self.shape.channels;
        for pixel in 0..self.runs.pixels {
            let x = left.wrapping_add(pixel);
            let from = if x < self.shape.input[1] { line.wrapping_add(x * channels) } else { self.padding };
            // SAFETY: a pixel of the image or of padding, to the caller's room for a run.
            unsafe { core::ptr::copy_nonoverlapping(from, to.add(pixel * channels), channels) };
        }
        to
    }
}
