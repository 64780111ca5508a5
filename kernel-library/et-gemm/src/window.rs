//! Fills the indirection buffer of a convolution: pointers into the image, to padding, or to a copied receptive field.
#![allow(unsafe_code, reason = "tables hold pointers into the image")]

use core::ops::Range;

use crate::shape::{Runs, Shape};

/// An input image with a padding buffer.
pub struct Windows<'a, T> {
    shape: &'a Shape,
    runs: Runs,
    input: *const T,
    padding: *const T,
    /// The output columns whose receptive fields lie horizontally within the image.
    inside: Range<usize>,
    /// K segments per kernel row.
    across: usize,
}

/// An output position.
#[derive(Clone, Copy)]
pub struct Place {
    /// The output line, counted across the batch.
    pub line: usize,
    /// The output column.
    x: usize,
}

impl<'a, T: Copy> Windows<'a, T> {
    /// `input` has the length of the shape. `padding` has a K segment; for rows addressed from the pointers of
    /// [`Self::fill_first`], a K segment per row at the row stride.
    pub fn new(shape: &'a Shape, runs: Runs, input: *const T, padding: *const T) -> Self {
        Self { shape, runs, input, padding, inside: inside(shape), across: shape.kernel[1] / runs.pixels }
    }

    /// Fills the indirection buffer for `rows`: the pointers of the first K segment of every row, then of the second K
    /// segment, and so on.
    ///
    /// # Safety
    ///
    /// `rows` are within the shape. `table` has room for `rows.len() * runs.count` pointers; if K segments have several
    /// pixels, `copies` has room for a receptive field per row.
    pub unsafe fn fill(&self, group: usize, rows: Range<usize>, table: *mut *const T, copies: *mut T) {
        let count = rows.len();
        if self.shape.is_pointwise() {
            let first = rows.start * self.shape.pixel_stride + group * self.shape.channels;
            for row in 0..count {
                // SAFETY: the caller upholds the contract of this function.
                unsafe { table.add(row).write(self.input.wrapping_add(first + row * self.shape.pixel_stride)) };
            }
            return;
        }
        let width = self.shape.output[1];
        let window = self.runs.count * self.runs.length;
        let Place { mut line, mut x } = self.place(rows.start);
        let mut row = 0;
        while row < count {
            let end = width.min(x + count - row);
            let copies = copies.wrapping_add(row * window);
            // SAFETY: the caller upholds the contract of this function.
            unsafe { self.fill_line(group, self.in_image(line), x..end, table.add(row), count, copies) };
            row += end - x;
            (line, x) = (line + 1, 0);
        }
    }

    /// The output position of a row.
    pub const fn place(&self, row: usize) -> Place {
        let width = self.shape.output[1];
        Place { line: row / width, x: row % width }
    }

    /// The output position `rows` rows later.
    pub const fn later(&self, place: Place, rows: usize) -> Place {
        let (width, x) = (self.shape.output[1], place.x + rows);
        if x < width {
            return Place { x, ..place };
        }
        Place { line: place.line + x / width, x: x % width }
    }

    /// Whether `rows` receptive fields have a uniform stride: in the same output line, horizontally within the image.
    pub const fn is_even(&self, place: Place, rows: usize) -> bool {
        place.x >= self.inside.start && place.x + rows <= self.inside.end
    }

    /// Whether `rows` rows are in the same output line.
    pub const fn is_line(&self, place: Place, rows: usize) -> bool {
        place.x + rows <= self.shape.output[1]
    }

    /// Writes the K segment pointers of a row whose receptive field lies horizontally within the image.
    ///
    /// # Safety
    ///
    /// The row is within the shape and horizontally within the image. `table` has room for a pointer per K segment.
    pub unsafe fn fill_first(&self, group: usize, place: Place, table: *mut *const T) {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { self.fill_inside(group, self.in_image(place.line), place.x..place.x + 1, table, 1) };
    }

    /// Like [`Self::fill_first`] where receptive fields reach over the left or right border: copies the pixels of
    /// `rows` rows with padding.
    ///
    /// # Safety
    ///
    /// The rows are within the shape and in the same output line; K segments have several pixels. `table` has room for
    /// a pointer per K segment, and `copies` for the pixels that the rows span.
    pub unsafe fn fill_copied(&self, group: usize, place: Place, rows: usize, table: *mut *const T, copies: *mut T) {
        let (shape, [image, y]) = (self.shape, self.in_image(place.line));
        let top = (y * shape.stride[0]).wrapping_sub(shape.padding[0]);
        let left = (place.x * shape.stride[1]).wrapping_sub(shape.padding[1]);
        let pixels = (rows - 1) * shape.stride[1] + self.runs.pixels;
        for run in 0..self.runs.count {
            let line = self.line_of_tap(group, image, top, run);
            // SAFETY: the caller upholds the contract of this function.
            unsafe {
                let copy = copies.add(run * pixels * shape.channels);
                table.add(run).write(line.map_or(self.padding, |line| self.copy(line, left, pixels, copy)));
            }
        }
    }

    /// Splits an output line into image and line within the image.
    const fn in_image(&self, line: usize) -> [usize; 2] {
        let height = self.shape.output[0];
        if line < height { [0, line] } else { [line / height, line % height] }
    }

    /// Writes the pointers of neighbouring rows, with `step` pointers from a K segment to the next.
    unsafe fn fill_line(
        &self,
        group: usize,
        place: [usize; 2],
        columns: Range<usize>,
        table: *mut *const T,
        step: usize,
        copies: *mut T,
    ) {
        let [begin, end] = [self.inside.start, self.inside.end].map(|x| x.clamp(columns.start, columns.end));
        let window = self.runs.count * self.runs.length;
        for x in (columns.start..begin).chain(end.max(begin)..columns.end) {
            let row = x - columns.start;
            // SAFETY: the caller upholds the contract of this function.
            unsafe {
                self.fill_row(group, [place[0], place[1], x], table.add(row), step, copies.wrapping_add(row * window))
            };
        }
        // SAFETY: the caller guarantees room for the pointers; the receptive fields lie horizontally within the image.
        unsafe { self.fill_inside(group, place, begin..end, table.add(begin - columns.start), step) };
    }

    /// Writes the pointers of a single row, `step` pointers apart.
    unsafe fn fill_row(&self, group: usize, place: [usize; 3], table: *mut *const T, step: usize, copy: *mut T) {
        let shape = self.shape;
        let top = (place[1] * shape.stride[0]).wrapping_sub(shape.padding[0]);
        let left = (place[2] * shape.stride[1]).wrapping_sub(shape.padding[1]);
        let inside = left < shape.input[1] && left + self.runs.pixels <= shape.input[1];
        let copied = self.runs.pixels > 1 && !inside;
        let mut slot = table;
        for tap in 0..shape.planes * shape.kernel[0] {
            let line = self.line_of_tap(group, place[0], top, tap);
            for index in 0..self.across {
                let run = index + tap * self.across;
                let x = left.wrapping_add(index * shape.dilation[1]);
                let pointer = match line {
                    None => self.padding,
                    // SAFETY: the caller guarantees room for a receptive field.
                    Some(line) if copied => unsafe {
                        self.copy(line, x, self.runs.pixels, copy.add(run * self.runs.length))
                    },
                    Some(line) if x < shape.input[1] => line.wrapping_add(x * shape.pixel_stride),
                    Some(_) => self.padding,
                };
                // SAFETY: the caller guarantees room for the K segments of every row.
                unsafe { slot.write(pointer) };
                slot = slot.wrapping_add(step);
            }
        }
    }

    /// Writes the pointers of neighbouring rows whose receptive fields lie horizontally within the image: the pointers
    /// of a K segment advance by the convolution stride.
    unsafe fn fill_inside(
        &self,
        group: usize,
        place: [usize; 2],
        columns: Range<usize>,
        table: *mut *const T,
        step: usize,
    ) {
        let shape = self.shape;
        let top = (place[1] * shape.stride[0]).wrapping_sub(shape.padding[0]);
        let left = (columns.start * shape.stride[1]).wrapping_sub(shape.padding[1]);
        let mut slots = table;
        for tap in 0..shape.planes * shape.kernel[0] {
            let line = self.line_of_tap(group, place[0], top, tap);
            let distance = if line.is_some() { shape.stride[1] * shape.pixel_stride } else { 0 };
            for index in 0..self.across {
                let x = left.wrapping_add(index * shape.dilation[1]);
                let mut pointer =
                    line.map_or(self.padding, |line| line.wrapping_add(x.wrapping_mul(shape.pixel_stride)));
                for row in 0..columns.len() {
                    // SAFETY: the caller guarantees room for the K segments of every row.
                    unsafe { slots.add(row).write(pointer) };
                    pointer = pointer.wrapping_add(distance);
                }
                slots = slots.wrapping_add(step);
            }
        }
    }

    /// The input line of a kernel row, counted across the channel planes.
    #[inline(always)]
    fn line_of_tap(&self, group: usize, image: usize, top: usize, tap: usize) -> Option<*const T> {
        let shape = self.shape;
        if shape.planes == 1 {
            return self.line(group, image, top.wrapping_add(tap * shape.dilation[0]));
        }
        let (plane, tap) = (tap / shape.kernel[0], tap % shape.kernel[0]);
        self.line(group, image * shape.planes + plane, top.wrapping_add(tap * shape.dilation[0]))
    }

    /// The start of an input line, or `None` in the vertical padding.
    #[inline(always)]
    fn line(&self, group: usize, image: usize, y: usize) -> Option<*const T> {
        let [height, width] = self.shape.input;
        let start = (image * height).wrapping_add(y).wrapping_mul(width).wrapping_mul(self.shape.pixel_stride);
        (y < height).then(|| self.input.wrapping_add(start.wrapping_add(group * self.shape.channels)))
    }

    /// Copies `pixels` pixels from `left` on, with padding left and right of the image.
    unsafe fn copy(&self, line: *const T, left: usize, pixels: usize, to: *mut T) -> *const T {
        let (width, channels) = (self.shape.input[1], self.shape.channels);
        // Left of the image, `left` wraps around as a negative number.
        let before = if left < width { 0 } else { left.wrapping_neg().min(pixels) };
        let first = left.wrapping_add(before);
        let within = width.saturating_sub(first).min(pixels - before);
        let after = (pixels - before - within) * channels;
        // SAFETY: reads pixels of the image and elements of the padding; the caller guarantees room for `pixels`
        // pixels.
        unsafe {
            for index in 0..before * channels {
                to.add(index).write(*self.padding);
            }
            let (from, image) = (line.wrapping_add(first.wrapping_mul(channels)), to.add(before * channels));
            core::ptr::copy_nonoverlapping(from, image, within * channels);
            for index in 0..after {
                image.add(within * channels + index).write(*self.padding);
            }
        }
        to
    }
}

fn inside(shape: &Shape) -> Range<usize> {
    let Shape { input, padding, stride, kernel, dilation, .. } = shape;
    let reach = (kernel[1] - 1) * dilation[1];
    let last = (input[1] + padding[1]).checked_sub(reach + 1);
    padding[1].div_ceil(stride[1])..last.map_or(0, |last| last / stride[1] + 1).min(shape.output[1])
}
