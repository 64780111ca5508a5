//! The receptive fields of an `f32` image as a matrix (implicit im2col): a row for each channel and kernel position, a
//! column for each output position.

use core::ops::Range;

use et_core::Input;

use crate::convolutions::picture::Picture;
use crate::family::spatial::Axis;
use crate::family::tile::{Right, copy_run};

/// The receptive fields in some channels of an image, as the right matrix of a GEMM (implicit im2col).
#[derive(Clone, Copy, Debug)]
pub struct Patches<'a> {
    /// The elements of the whole tensor.
    pub elements: Input<'a, f32>,
    /// The offset of the first channel.
    pub start: usize,
    /// Sizes and strides of the tensor.
    pub image: Picture,
    /// The kernel parameters along rows and columns.
    pub axes: [Axis; 2],
    /// The number of output positions in a row.
    pub width: usize,
}

/// A channel and a kernel position.
#[derive(Clone, Copy)]
struct Tap {
    plane: usize,
    row: usize,
    column: usize,
}

/// An output position.
#[derive(Clone, Copy)]
struct Position {
    row: usize,
    column: usize,
}

impl Right for Patches<'_> {
    #[inline(always)]
    fn read(&self, rows: Range<usize>, columns: Range<usize>, width: usize, slots: &mut [f32]) {
        let position = Position { row: columns.start / self.width, column: columns.start % self.width };
        let mut tap = self.tap(rows.start);
        for slots in slots.chunks_exact_mut(width).take(rows.len()) {
            self.read_tap(tap, position, &mut slots[..columns.len()]);
            tap = self.next(tap);
        }
    }
}

impl Patches<'_> {
    fn tap(&self, row: usize) -> Tap {
        let [rows, columns] = [self.axes[0].kernel, self.axes[1].kernel];
        let (channel, tap) = (row / (rows * columns), row % (rows * columns));
        Tap { plane: self.start + channel * self.image.strides[1], row: tap / columns, column: tap % columns }
    }

    #[inline(always)]
    fn next(&self, tap: Tap) -> Tap {
        let [rows, columns] = [self.axes[0].kernel, self.axes[1].kernel];
        if tap.column + 1 < columns {
            Tap { column: tap.column + 1, ..tap }
        } else if tap.row + 1 < rows {
            Tap { row: tap.row + 1, column: 0, ..tap }
        } else {
            Tap { plane: tap.plane + self.image.strides[1], row: 0, column: 0 }
        }
    }

    /// Reads the pixel under a kernel position for each output position from `position` on; 0 outside the image.
    #[inline(always)]
    fn read_tap(&self, tap: Tap, mut position: Position, mut slots: &mut [f32]) {
        let inside = self.axes[1].positions_inside(tap.column);
        let inside = inside.start.min(self.width)..inside.end.min(self.width);
        while !slots.is_empty() {
            let count = slots.len().min(self.width - position.column);
            let (segment, rest) = slots.split_at_mut(count);
            self.read_segment(tap, position, &inside, segment);
            position = Position { row: position.row + 1, column: 0 };
            slots = rest;
        }
    }

    /// Like [`Patches::read_tap`], for output positions in a single row; for columns in `inside`, the kernel position
    /// lies inside the image.
    #[inline(always)]
    fn read_segment(&self, tap: Tap, position: Position, inside: &Range<usize>, slots: &mut [f32]) {
        let [rows, columns] = &self.axes;
        let end = position.column + slots.len();
        let first = inside.start.clamp(position.column, end);
        let last = inside.end.clamp(first, end);
        let Some(row) = rows.seen(position.row, tap.row).filter(|_| first < last) else { return slots.fill(0.0) };
        let column = first * columns.stride.get() + tap.column * columns.dilation.get() - columns.padding;
        let (before, slots) = slots.split_at_mut(first - position.column);
        let (seen, after) = slots.split_at_mut(last - first);
        before.fill(0.0);
        after.fill(0.0);
        let step = columns.stride.get() * self.image.strides[3];
        copy_run(self.elements, tap.plane + self.image.pixel(row, column), step, seen);
    }
}
