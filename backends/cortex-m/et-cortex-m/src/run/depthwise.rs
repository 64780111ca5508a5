//! Depthwise convolution.

use et_core::{Error, Result};

use super::columns::{Inside, Pixel};
use crate::memory::{Operands, copy};
use crate::row::{DEPTHWISE_CHANNELS, DEPTHWISE_ORDER, Distances, Taps, depthwise};
use crate::{Bounds, Channel, Depthwise, Window};

pub fn run(step: &Depthwise, mut operands: Operands<'_, '_>) -> Result<()> {
    let (window, bounds) = (step.window, step.bounds);
    let (channels, taps) = (window.in_channels as usize, window.taps()?);
    let input = operands.read::<i8>(step.input, window.input_len()?)?;
    let patch = operands.write::<i8>(step.patch, taps.checked_mul(channels).ok_or(Error::InvalidProgram)?)?;
    let weights = taps.checked_mul(channels.next_multiple_of(DEPTHWISE_CHANNELS)).ok_or(Error::InvalidProgram)?;
    let weights = operands.constant::<i16>(step.weights, weights)?;
    let table = operands.constant::<Channel>(step.channels, channels)?;
    let output = operands.write::<i8>(step.output, window.output_len()?)?;
    let (in_image, in_patch) = distances(&window);
    let mut pixel = Pixel::default();
    for results in output.chunks_exact_mut(channels.max(1)) {
        let spot = Spot::of(&window, pixel);
        let (image, place) = if spot.is_whole(&window) {
            (input, Taps::new(spot.start(&window), 0, in_image))
        } else {
            spot.fill(&window, input, step.input_zero as i8, patch);
            (&*patch, Taps::new(0, 0, in_patch))
        };
        let operands = (image, weights, table);
        if bounds.is_whole() {
            self::pixel::<false>(operands, (place, taps), &bounds, results);
        } else {
            self::pixel::<true>(operands, (place, taps), &bounds, results);
        }
        pixel.advance(&window);
    }
    Ok(())
}

/// Computes all channels of a pixel.
#[inline(never)]
fn pixel<const NARROW: bool>(
    (image, weights, table): (&[i8], &[i16], &[Channel]),
    (mut place, taps): (Taps, usize),
    bounds: &Bounds,
    results: &mut [i8],
) {
    for (results, table) in results.chunks_mut(DEPTHWISE_CHANNELS).zip(table.chunks(DEPTHWISE_CHANNELS)) {
        let mut sums = [0; DEPTHWISE_CHANNELS];
        if let (Some(results), Some(table)) = (results.first_chunk_mut(), table.first_chunk()) {
            sums = table.map(|channel: Channel| channel.bias);
            depthwise(image, weights, &place, &mut sums);
            requantize::<NARROW, DEPTHWISE_CHANNELS>(results, table, &sums, bounds);
        } else {
            sums.iter_mut().zip(table).for_each(|(sum, channel)| *sum = channel.bias);
            part(&place, (image, weights), results.len(), &mut sums);
            for ((result, sum), channel) in results.iter_mut().zip(sums).zip(table) {
                *result = bounds.clamp(channel.factor.apply(sum));
            }
        }
        place.advance(taps);
    }
}

#[inline(always)]
fn requantize<const NARROW: bool, const N: usize>(
    results: &mut [i8; N],
    table: &[Channel; N],
    sums: &[i32; N],
    bounds: &Bounds,
) {
    for ((result, sum), channel) in results.iter_mut().zip(sums).zip(table) {
        *result = bounds.clamp_to::<NARROW>(channel.factor.apply(*sum));
    }
}

/// The distances between taps in the image and in a patch.
fn distances(window: &Window) -> (Distances, Distances) {
    let (channels, columns) = (window.in_channels as usize, window.kernel_width as usize);
    let in_patch = Distances {
        input_row: columns * channels,
        input_tap: channels,
        weights_row: columns * DEPTHWISE_CHANNELS,
        rows: window.kernel_height as usize,
        columns,
    };
    let line = window.in_width as usize * channels;
    let input_row = window.dilation_height as usize * line;
    (Distances { input_row, input_tap: window.dilation_width as usize * channels, ..in_patch }, in_patch)
}

/// The taps of an output pixel inside of the image.
struct Spot {
    image: usize,
    rows: Inside,
    columns: Inside,
}

impl Spot {
    fn of(window: &Window, pixel: Pixel) -> Self {
        let taps = (window.kernel_height, window.dilation_height);
        let rows = Inside::of(pixel.row, window.stride_height, window.pad_top, taps, window.in_height);
        let taps = (window.kernel_width, window.dilation_width);
        let columns = Inside::of(pixel.column, window.stride_width, window.pad_left, taps, window.in_width);
        Self { image: pixel.image, rows, columns }
    }

    /// Whether all taps lie inside.
    const fn is_whole(&self, window: &Window) -> bool {
        let (rows, columns) = (self.rows.end - self.rows.first, self.columns.end - self.columns.first);
        rows == window.kernel_height as usize && columns == window.kernel_width as usize
    }

    /// The place of the first tap inside.
    const fn start(&self, window: &Window) -> usize {
        let row = self.image * window.in_height as usize + self.rows.start;
        (row * window.in_width as usize + self.columns.start) * window.in_channels as usize
    }

    /// Copies the taps to a patch, where taps outside have the zero point.
    fn fill(&self, window: &Window, input: &[i8], zero: i8, patch: &mut [i8]) {
        let channels = window.in_channels as usize;
        let (taps, start) = (window.kernel_width as usize, self.start(window));
        patch.fill(zero);
        for row in self.rows.first..self.rows.end {
            let line = (row - self.rows.first) * (window.dilation_height * window.in_width) as usize * channels;
            for column in self.columns.first..self.columns.end {
                let from = line + (column - self.columns.first) * window.dilation_width as usize * channels;
                let from = input.get(start + from..).and_then(|rest| rest.get(..channels)).unwrap_or_default();
                copy(patch.get_mut((row * taps + column) * channels..).unwrap_or_default(), from);
            }
        }
    }
}

/// Adds the products of the last channels, fewer than a word has.
fn part(taps: &Taps, (image, weights): (&[i8], &[i16]), count: usize, sums: &mut [i32; DEPTHWISE_CHANNELS]) {
    taps.for_each(|pixel, tap| {
        let pixel = image.get(pixel..).and_then(|rest| rest.get(..count)).unwrap_or_default();
        let factors = weights.get(tap..).unwrap_or_default();
        for (channel, factor) in DEPTHWISE_ORDER.iter().zip(factors) {
            let element = pixel.get(*channel).copied().unwrap_or_default();
            sums[*channel] += i32::from(element) * i32::from(*factor);
        }
    });
}
