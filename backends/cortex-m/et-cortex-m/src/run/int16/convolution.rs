//! Convolution and fully connected layers: the columns of a tile of pixels times packed weights.

use et_core::{Error, Result};
use et_runtime::Listener;

use crate::memory::Operands;
use crate::requantize::shifted_product;
use crate::row::int16::{Layer, MOST_PAIRS, products, tile_to_int16};
use crate::row::{CHANNELS, LANES};
use crate::run::columns::{Column, Pixel};
use crate::run::rows::Rows;
use crate::{Channel16, Convolution16};

pub fn convolution(step: &Convolution16, mut operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    let window = &step.window;
    let (channels, pairs) = (window.out_channels as usize, window.pairs()?);
    let input = operands.read::<i16>(step.input, window.input_len()?)?;
    let tile = operands.write::<i16>(step.tile, window.tile_len()?)?;
    let weights = channels.div_ceil(CHANNELS).checked_mul(2 * CHANNELS * pairs).ok_or(Error::InvalidProgram)?;
    let weights = operands.constant::<i8>(step.weights, weights)?;
    let channels = operands.constant::<Channel16>(step.channels, channels)?;
    let output = operands.write::<i16>(step.output, window.output_len()?)?;
    let layer = Layer { weights, channels, limits: step.limits, narrow: step.narrow == 1 };
    let (mut pixel, mut rows) = (Pixel::default(), Rows::of(window, listener));
    for results in output.chunks_mut((LANES * channels.len()).max(1)) {
        let pixels = results.len() / channels.len().max(1);
        let lanes = if pixels == LANES { LANES } else { 1 };
        for results in results.chunks_exact_mut((lanes * channels.len()).max(1)) {
            for lane in 0..lanes {
                Column::new(tile, lanes, lane).fill(input, window, 0, pixel);
                pixel.advance(window);
            }
            let columns = tile.get(..2 * lanes * pairs).unwrap_or_default();
            if lanes == LANES {
                layer.tile::<LANES>(columns, results)
            } else {
                layer.tile::<1>(columns, results)
            }
            rows.computed(lanes);
        }
    }
    Ok(())
}

impl Layer<'_> {
    /// Computes all channels of a tile of `P` pixels.
    #[inline(never)]
    fn tile<const P: usize>(&self, columns: &[i16], results: &mut [i16]) {
        if tile_to_int16::<P>(columns, self, results) {
            return;
        }
        let panels = self.weights.chunks_exact((CHANNELS * columns.len() / P).max(1));
        for ((panel, weights), channels) in panels.enumerate().zip(self.channels.chunks(CHANNELS)) {
            let place = panel * CHANNELS;
            if self.narrow {
                let bias = |at: usize| channels.get(at).map_or(0, |channel| channel.bias_low.cast_signed());
                let mut sums = [[bias(0), bias(1)]; P];
                products(columns, weights, &mut sums);
                self.store(place, channels, results, |pixel, at, multiplier, _| {
                    // The rule for a shift of 32, whose product has 64 bits.
                    shifted_product(sums[pixel][at].into(), multiplier, 32)
                });
            } else {
                let sums = wide_sums::<P>(columns, weights, channels);
                self.store(place, channels, results, |pixel, at, multiplier, shift| {
                    shifted_product(sums[pixel][at], multiplier, shift)
                });
            }
        }
    }

    /// Stores the results of a panel; `result` has the number of the pixel and of the channel, the factor and the shift.
    #[inline(always)]
    fn store(
        &self,
        place: usize,
        channels: &[Channel16],
        results: &mut [i16],
        result: impl Fn(usize, usize, i32, i32) -> i32,
    ) {
        let pixels = results.chunks_exact_mut(self.channels.len().max(1));
        for (pixel, results) in pixels.enumerate() {
            let results = results.get_mut(place..).unwrap_or_default();
            for (at, (slot, channel)) in results.iter_mut().zip(channels).enumerate() {
                *slot = self.limits.clamp(result(pixel, at, channel.multiplier, channel.shift));
            }
        }
    }
}

/// The sums of a panel in 64 bits, from parts that fit in 32.
#[inline(never)]
fn wide_sums<const P: usize>(columns: &[i16], weights: &[i8], channels: &[Channel16]) -> [[i64; CHANNELS]; P] {
    let bias = |at: usize| channels.get(at).map_or(0, Channel16::bias);
    let mut totals = [[bias(0), bias(1)]; P];
    for (columns, weights) in columns.chunks(2 * P * MOST_PAIRS).zip(weights.chunks(2 * CHANNELS * MOST_PAIRS)) {
        let mut sums = [[0; CHANNELS]; P];
        products(columns, weights, &mut sums);
        for (total, sum) in totals.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
            *total += i64::from(*sum);
        }
    }
    totals
}
