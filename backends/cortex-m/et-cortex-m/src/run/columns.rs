//! The columns of a tile of pixels: im2col of a few pixels at a time.

use crate::Window;
use crate::row::Element;
#[cfg(any(not(target_os = "none"), feature = "mve", feature = "thumb2"))]
use crate::row::copy_rows;
use crate::row::int16::BLOCK;

/// An output pixel.
#[derive(Clone, Copy, Default)]
pub struct Pixel {
    pub image: usize,
    pub row: usize,
    pub column: usize,
}

impl Pixel {
    /// The next pixel, in memory order.
    pub fn advance(&mut self, window: &Window) {
        self.column += 1;
        if self.column >= window.out_width as usize {
            (self.column, self.row) = (0, self.row + 1);
        }
        if self.row >= window.out_height as usize {
            (self.row, self.image) = (0, self.image + 1);
        }
    }
}

/// The part of a row or column of taps that lies inside of the image.
#[derive(Clone, Copy)]
pub struct Inside {
    /// The first tap inside.
    pub first: usize,
    /// The first tap behind the last one inside.
    pub end: usize,
    /// The place of tap `first` in the image; 0 where no tap lies inside.
    pub start: usize,
}

impl Inside {
    /// The taps of a window at output place `at` that lie inside of `size` places.
    pub fn of(at: usize, stride: u32, pad: u32, (taps, dilation): (u32, u32), size: u32) -> Self {
        let (dilation, size) = (dilation.max(1) as i32, size as i32);
        let origin = (at as i32).wrapping_mul(stride as i32).wrapping_sub(pad as i32);
        let taps = taps as i32;
        // Most windows have no dilation, and a division takes long on a microcontroller.
        let places = |distance: i32| match distance {
            ..=0 => 0,
            _ if dilation == 1 => distance,
            _ => quotient(distance.wrapping_add(dilation - 1), dilation),
        };
        let first = places(origin.wrapping_neg()).min(taps);
        let end = places(size.wrapping_sub(origin)).min(taps).max(first);
        // A window beside the image begins nowhere in it.
        let start = if first < end { origin.wrapping_add(first.wrapping_mul(dilation)) } else { 0 };
        Self { first: first as usize, end: end as usize, start: start as usize }
    }

    /// The number of taps inside.
    pub const fn count(&self) -> u32 {
        (self.end - self.first) as u32
    }
}

/// The rows and the columns of taps of a pixel inside of the image.
#[inline(never)]
pub fn taps_inside(window: &Window, pixel: Pixel) -> (Inside, Inside) {
    let taps = (window.kernel_height, window.dilation_height);
    let rows = Inside::of(pixel.row, window.stride_height, window.pad_top, taps, window.in_height);
    let taps = (window.kernel_width, window.dilation_width);
    (rows, Inside::of(pixel.column, window.stride_width, window.pad_left, taps, window.in_width))
}

/// A part of a column.
enum Run {
    /// Elements outside of the image.
    Outside(usize),
    /// The place of the first element in the image, and the number of elements.
    Inside(usize, usize),
}

/// Visits the parts of the column of a pixel in order.
#[inline(always)]
fn for_each_run(window: &Window, pixel: Pixel, mut visit: impl FnMut(Run)) {
    let (channels, width) = (window.in_channels as usize, window.in_width as usize);
    let (rows, columns) = taps_inside(window, pixel);
    let row_of_taps = window.kernel_width as usize * channels;
    let image = pixel.image * window.in_height as usize;
    visit(Run::Outside(rows.first * row_of_taps));
    for tap in rows.first..rows.end {
        let row = rows.start + (tap - rows.first) * window.dilation_height as usize;
        let line = ((image + row) * width + columns.start) * channels;
        visit(Run::Outside(columns.first * channels));
        let inside = columns.end - columns.first;
        if window.dilation_width <= 1 {
            visit(Run::Inside(line, inside * channels));
        } else {
            for tap in 0..inside {
                visit(Run::Inside(line + tap * window.dilation_width as usize * channels, channels));
            }
        }
        visit(Run::Outside((window.kernel_width as usize - columns.end) * channels));
    }
    visit(Run::Outside((window.kernel_height as usize - rows.end) * row_of_taps));
}

/// Elements of an image.
fn inside<T>(input: &[T], start: usize, count: usize) -> &[T] {
    input.get(start..).and_then(|rest| rest.get(..count)).unwrap_or_default()
}

/// Fills the int8 column of a pixel: the taps of the window, `zero` outside of the image.
#[cfg(any(not(target_os = "none"), feature = "mve", feature = "thumb2"))]
pub fn fill(column: &mut [i8], input: &[i8], (window, zero): (&Window, i32), pixel: Pixel) {
    let (rows, columns) = taps_inside(window, pixel);
    let channels = window.in_channels as usize;
    let row_of_taps = window.kernel_width as usize * channels;
    if window.dilation_width <= 1 && (rows.count(), columns.count()) == (window.kernel_height, window.kernel_width) {
        let line = window.in_width as usize * channels;
        let first = (pixel.image * window.in_height as usize + rows.start) * line + columns.start * channels;
        let stride = line * window.dilation_height as usize;
        return copy_rows(input.get(first..).unwrap_or_default(), stride, column, row_of_taps);
    }
    let mut at = 0;
    for_each_run(window, pixel, |run| {
        let (Run::Outside(count) | Run::Inside(_, count)) = run;
        let part = column.get_mut(at..).and_then(|rest| rest.get_mut(..count)).unwrap_or_default();
        match run {
            Run::Outside(_) => part.fill(zero as i8),
            Run::Inside(start, _) => copy_rows(input.get(start..).unwrap_or_default(), 0, part, count),
        }
        at += count;
    });
}

/// A quotient without the panics of a division, for which the compiler cannot exclude a zero.
fn quotient(number: i32, divisor: i32) -> i32 {
    number.checked_div(divisor).unwrap_or_default()
}

/// The column of a pixel in a tile of `lanes` pixels: `[pair][lane][2]`.
pub struct Column<'t> {
    tile: &'t mut [i16],
    lanes: usize,
    at: usize,
    is_odd: bool,
}

impl<'t> Column<'t> {
    pub fn new(tile: &'t mut [i16], lanes: usize, lane: usize) -> Self {
        Self { tile, lanes, at: 2 * lane, is_odd: false }
    }

    /// Fills the column of a pixel: the taps of the window, `zero` outside of the image.
    pub fn fill<T: Element>(mut self, input: &[T], window: &Window, zero: i32, pixel: Pixel) {
        for_each_run(window, pixel, |run| match run {
            Run::Outside(count) => self.repeat(zero as i16, count),
            Run::Inside(start, count) => self.copy(inside(input, start, count)),
        });
        if self.is_odd {
            self.put(0);
        }
    }

    /// Appends elements.
    fn copy<T: Element>(&mut self, mut elements: &[T]) {
        if let (true, Some((first, rest))) = (self.is_odd, elements.split_first()) {
            self.put((*first).into());
            elements = rest;
        }
        let (pairs, rest) = elements.as_chunks::<2>();
        let step = 2 * self.lanes;
        T::expand(self.tile.get_mut(self.at..).unwrap_or_default(), self.lanes, pairs);
        self.at += step * pairs.len();
        rest.iter().for_each(|last| self.put((*last).into()));
    }

    /// Appends an element several times.
    fn repeat(&mut self, element: i16, count: usize) {
        (0..count).for_each(|_| self.put(element));
    }

    fn put(&mut self, element: i16) {
        if let Some(slot) = self.tile.get_mut(self.at) {
            *slot = element;
        }
        self.at += if self.is_odd { 2 * self.lanes - 1 } else { 1 };
        self.is_odd = !self.is_odd;
    }
}

/// The int16 column of a pixel in a tile of blocks of products: `[block][lane][product]`. The last block may end in any numbers.
pub struct BlockColumn<'t> {
    tile: &'t mut [i16],
    /// The pixels of the tile, and that of the column.
    lanes: [usize; 2],
    /// The products so far.
    done: usize,
}

impl<'t> BlockColumn<'t> {
    pub const fn new(tile: &'t mut [i16], lanes: [usize; 2]) -> Self {
        Self { tile, lanes, done: 0 }
    }

    /// Fills the column of a pixel: the taps of the window, 0 outside of the image.
    pub fn fill(mut self, input: &[i16], window: &Window, pixel: Pixel) {
        for_each_run(window, pixel, |run| match run {
            Run::Outside(count) => (0..count).for_each(|_| self.put(&[0])),
            Run::Inside(start, count) => self.copy(inside(input, start, count)),
        });
    }

    /// Appends elements, whole blocks at once.
    fn copy(&mut self, elements: &[i16]) {
        let to_block = self.done.wrapping_neg() % BLOCK;
        let (first, rest) = elements.split_at(to_block.min(elements.len()));
        first.iter().for_each(|element| self.put(&[*element]));
        let (blocks, last) = rest.as_chunks::<BLOCK>();
        blocks.iter().for_each(|block| self.put(block));
        last.iter().for_each(|element| self.put(&[*element]));
    }

    /// Appends elements of a block.
    #[inline(always)]
    fn put<const N: usize>(&mut self, elements: &[i16; N]) {
        let [lanes, lane] = self.lanes;
        let start = (self.done / BLOCK * lanes + lane) * BLOCK + self.done % BLOCK;
        if let Some(slot) = self.tile.get_mut(start..).and_then(<[i16]>::first_chunk_mut) {
            *slot = *elements;
        }
        self.done += N;
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn taps_inside_of_the_image_are_those_that_a_count_finds() {
        for (stride, pad, taps, dilation, size) in [(1, 1, 3, 1, 5), (2, 5, 10, 1, 7), (1, 4, 3, 3, 4), (3, 0, 2, 2, 9)]
        {
            for at in 0..6 {
                let place = |tap: u32| (at as u32 * stride + tap * dilation) as i32 - pad as i32;
                let inside: Vec<u32> = (0..taps).filter(|tap| (0..size as i32).contains(&place(*tap))).collect();
                let found = Inside::of(at, stride, pad, (taps, dilation), size);
                assert_eq!(found.end - found.first, inside.len());
                if let Some(first) = inside.first() {
                    assert_eq!((found.first as u32, found.start as i32), (*first, place(*first)));
                }
            }
        }
    }
}
