//! Depthwise convolution.

use et_core::{Error, Result};
use et_runtime::Listener;

use crate::memory::Operands;
use crate::requantize::shifted_product;
use crate::row::int16::{Layer, MOST_PRODUCTS, depthwise as products, pixel_to_int16};
use crate::row::{DEPTHWISE_CHANNELS, Taps};
use crate::run::spot::for_each_pixel;
use crate::{Channel16, Depthwise16};

pub fn depthwise(step: &Depthwise16, mut operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    let window = step.window;
    let padded = |count: usize, multiple: usize| count.checked_next_multiple_of(multiple).ok_or(Error::InvalidProgram);
    let (channels, taps) = (window.in_channels as usize, padded(window.taps()?, 2)?);
    let input = operands.read::<i16>(step.input, window.input_len()?)?;
    let zeros = operands.write::<i16>(step.zeros, channels)?;
    zeros.fill(0);
    let zeros = &*zeros;
    let offsets = operands.write::<u32>(step.offsets, taps.checked_mul(2).ok_or(Error::InvalidProgram)?)?;
    let weights = taps.checked_mul(padded(channels, DEPTHWISE_CHANNELS)?).ok_or(Error::InvalidProgram)?;
    let weights = operands.constant::<i8>(step.weights, weights)?;
    let table = operands.constant::<Channel16>(step.channels, channels)?;
    let output = operands.write::<i16>(step.output, window.output_len()?)?;
    let (narrow, block) = (step.narrow == 1, operands.row().int16_block());
    let layer = Layer { weights, channels: table, limits: step.limits, narrow, block };
    for_each_pixel(&window, (input, zeros), offsets, output, listener, |taps, results| layer.pixel(taps, results));
    Ok(())
}

impl Layer<'_> {
    /// Computes all channels of a pixel.
    #[inline(never)]
    fn pixel(&self, taps: &Taps<'_, i16>, results: &mut [i16]) {
        if pixel_to_int16(taps, self, results) {
            return;
        }
        let groups = results.chunks_mut(DEPTHWISE_CHANNELS).zip(self.channels.chunks(DEPTHWISE_CHANNELS));
        let weights = self.weights.chunks_exact((DEPTHWISE_CHANNELS * taps.offsets.len()).max(1));
        for (group, ((results, table), weights)) in groups.zip(weights).enumerate() {
            let first = group * DEPTHWISE_CHANNELS;
            if self.narrow {
                let mut sums = [0; DEPTHWISE_CHANNELS];
                sums.iter_mut().zip(table).for_each(|(sum, channel)| *sum = channel.bias_low.cast_signed());
                products(taps, first, weights, &mut sums);
                for ((result, sum), channel) in results.iter_mut().zip(sums).zip(table) {
                    *result = self.limits.clamp(shifted_product(sum.into(), channel.multiplier, 32));
                }
            } else {
                let sums = wide_sums(taps, first, weights, table);
                for ((result, sum), channel) in results.iter_mut().zip(sums).zip(table) {
                    *result = self.limits.clamp(shifted_product(sum, channel.multiplier, channel.shift));
                }
            }
        }
    }
}

/// The sums of a group of channels in 64 bits, from parts that fit in 32.
#[inline(never)]
fn wide_sums(taps: &Taps<'_, i16>, first: usize, weights: &[i8], table: &[Channel16]) -> [i64; DEPTHWISE_CHANNELS] {
    let mut totals = [0; DEPTHWISE_CHANNELS];
    totals.iter_mut().zip(table).for_each(|(total, channel)| *total = channel.bias());
    let parts = taps.offsets.chunks(MOST_PRODUCTS).zip(weights.chunks(MOST_PRODUCTS * DEPTHWISE_CHANNELS));
    for (offsets, weights) in parts {
        let mut sums = [0; DEPTHWISE_CHANNELS];
        products(&Taps { offsets, ..*taps }, first, weights, &mut sums);
        totals.iter_mut().zip(sums).for_each(|(total, sum)| *total += i64::from(sum));
    }
    totals
}
