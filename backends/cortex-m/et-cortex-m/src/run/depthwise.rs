//! Depthwise convolution.

use et_core::{Error, Result};
use et_runtime::Listener;

use super::spot::for_each_pixel;
use crate::memory::Operands;
use crate::row::{DEPTHWISE_CHANNELS, Direct, IS_DEPTHWISE_DIRECT, Taps, depthwise, depthwise_group, depthwise_pixel};
use crate::{Bounds, Channel, Depthwise};

pub fn run(step: &Depthwise, mut operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    let window = step.window;
    let group = operands.row().depthwise_group();
    let multiple = if group == DEPTHWISE_CHANNELS { 2 } else { 1 };
    let padded = |count: usize, multiple: usize| count.checked_next_multiple_of(multiple).ok_or(Error::InvalidProgram);
    let (channels, taps) = (window.in_channels as usize, padded(window.taps()?, multiple)?);
    let input = operands.read::<i8>(step.input, window.input_len()?)?;
    let zeros = operands.write::<i8>(step.zeros, channels)?;
    zeros.fill(step.input_zero as i8);
    let zeros = &*zeros;
    let offsets = operands.write::<u32>(step.offsets, taps.checked_mul(2).ok_or(Error::InvalidProgram)?)?;
    let weights = taps.checked_mul(padded(channels, group)?).ok_or(Error::InvalidProgram)?;
    let weights = operands.constant::<i8>(step.weights, weights)?;
    let table = operands.constant::<Channel>(step.channels, channels)?;
    let output = operands.write::<i8>(step.output, window.output_len()?)?;
    let kernel = Kernel { group, weights, table, bounds: step.bounds, direct: step.direct == 1 && IS_DEPTHWISE_DIRECT };
    for_each_pixel(&window, (input, zeros), offsets, output, listener, |taps, results| kernel.run(taps, results));
    Ok(())
}

/// The constants of a layer.
struct Kernel<'m> {
    /// Channels of a group of weights.
    group: usize,
    weights: &'m [i8],
    table: &'m [Channel],
    bounds: Bounds,
    direct: bool,
}

impl Kernel<'_> {
    /// Computes all channels of a pixel.
    fn run(&self, taps: &Taps<'_>, results: &mut [i8]) {
        if self.direct {
            return depthwise_pixel(taps, self.weights, self.table, Direct { zero: self.bounds.zero }, results);
        }
        if self.group == DEPTHWISE_CHANNELS {
            self.groups::<DEPTHWISE_CHANNELS>(taps, results, depthwise);
        } else {
            self.groups(taps, results, depthwise_group);
        }
    }

    /// Computes all channels of a pixel, `G` at a time.
    #[inline(always)]
    fn groups<const G: usize>(
        &self,
        taps: &Taps<'_>,
        results: &mut [i8],
        products: impl Fn(&Taps<'_>, usize, &[i8], &mut [i32; G]),
    ) {
        let groups = results.chunks_mut(G).zip(self.table.chunks(G));
        let weights = self.weights.chunks_exact((G * taps.offsets.len()).max(1));
        for (group, ((results, table), weights)) in groups.zip(weights).enumerate() {
            let mut sums = [0; G];
            sums.iter_mut().zip(table).for_each(|(sum, channel)| *sum = channel.bias);
            products(taps, group * G, weights, &mut sums);
            for ((result, sum), channel) in results.iter_mut().zip(sums).zip(table) {
                *result = self.bounds.clamp(channel.factor.apply(sum));
            }
        }
    }
}
