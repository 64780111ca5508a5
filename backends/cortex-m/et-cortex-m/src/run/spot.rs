//! The taps of a depthwise convolution at a pixel.

use et_runtime::Listener;

use super::columns::{Inside, Pixel, taps_inside};
use super::rows::Rows;
use crate::Window;
use crate::row::Taps;

/// The taps of an output pixel inside of the image.
pub struct Spot {
    image: usize,
    rows: Inside,
    columns: Inside,
}

impl Spot {
    pub fn of(window: &Window, pixel: Pixel) -> Self {
        let (rows, columns) = taps_inside(window, pixel);
        Self { image: pixel.image, rows, columns }
    }

    /// The taps of a pixel at the start of the image, all of them inside.
    pub fn whole(window: &Window) -> Self {
        let all = |taps: u32| Inside { first: 0, end: taps as usize, start: 0 };
        Self { image: 0, rows: all(window.kernel_height), columns: all(window.kernel_width) }
    }

    /// Whether all taps lie inside.
    pub const fn is_whole(&self, window: &Window) -> bool {
        self.rows.count() == window.kernel_height && self.columns.count() == window.kernel_width
    }

    /// The place of the first tap inside.
    pub const fn start(&self, window: &Window) -> usize {
        let row = self.image * window.in_height as usize + self.rows.start;
        (row * window.in_width as usize + self.columns.start) * window.in_channels as usize
    }

    /// Writes the offset of each tap in an image of `len` elements, where taps outside have the offset `outside`. Returns the end of
    /// the last tap inside.
    pub fn offsets(&self, window: &Window, (len, outside): (usize, u32), offsets: &mut [u32]) -> usize {
        let (channels, taps) = (window.in_channels as usize, window.kernel_width as usize);
        let line = (window.dilation_height * window.in_width) as usize * channels;
        let (mut at, mut end) = (self.start(window), 0);
        offsets.fill(outside);
        for row in offsets.chunks_exact_mut(taps.max(1)).take(self.rows.end).skip(self.rows.first) {
            let mut place = at;
            for offset in row.iter_mut().take(self.columns.end).skip(self.columns.first) {
                if place.saturating_add(channels) <= len {
                    *offset = place as u32;
                    end = place.saturating_add(channels);
                }
                place = place.saturating_add(window.dilation_width as usize * channels);
            }
            at = at.saturating_add(line);
        }
        end
    }
}

/// Computes the channels of each output pixel from the taps: `compute` writes them. `offsets` has room for the taps twice, those of pixels inside of
/// the image and those of a pixel at the border, whose taps outside are the zeros.
#[inline(always)]
pub fn for_each_pixel<T>(
    window: &Window,
    (input, zeros): (&[T], &[T]),
    offsets: &mut [u32],
    output: &mut [T],
    listener: &mut Listener<'_>,
    compute: impl Fn(&Taps<'_, T>, &mut [T]),
) {
    let (whole, border) = offsets.split_at_mut(offsets.len() / 2);
    let end = Spot::whole(window).offsets(window, (usize::MAX, 0), whole);
    let (mut pixel, mut rows) = (Pixel::default(), Rows::of(window, listener));
    for results in output.chunks_exact_mut((window.in_channels as usize).max(1)) {
        let spot = Spot::of(window, pixel);
        let inside = input.get(spot.start(window)..).filter(|image| spot.is_whole(window) && end <= image.len());
        if let Some(image) = inside {
            compute(&Taps { image, offsets: whole, zeros }, results);
        } else {
            let outside = Taps::outside(input, zeros);
            spot.offsets(window, (input.len(), outside), border);
            compute(&Taps { image: input, offsets: border, zeros }, results);
        }
        pixel.advance(window);
        rows.computed(1);
    }
}
