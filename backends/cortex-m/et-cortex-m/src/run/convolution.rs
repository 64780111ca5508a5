//! Convolution and fully connected layers, int8 to int8.

use et_core::Result;

use super::tiles::{Epilogue, Tiles, weights_len};
use crate::memory::Operands;
use crate::requantize::{FRACTION, Factor, divide_by_power_of_two};
use crate::row::{CHANNELS, Direct, IS_DIRECT};
use crate::{Bounds, Channel, Convolution, Residual};

pub fn run(step: &Convolution, mut operands: Operands<'_, '_>) -> Result<()> {
    let window = step.window;
    let mut tiles = Tiles {
        input: operands.read(step.input, window.input_len()?)?,
        tile: operands.write(step.tile, window.tile_len()?)?,
        weights: operands.constant(step.weights, weights_len(&window)?)?,
        window,
        zero: step.input_zero,
    };
    let channels = operands.constant(step.channels, window.out_channels as usize)?;
    let output = operands.write::<i8>(step.output, window.output_len()?)?;
    if step.direct == 1 && IS_DIRECT {
        return tiles.run_direct((channels, Direct { zero: step.bounds.zero }), output);
    }
    if step.residual.enabled == 0 {
        return tiles.run(&mut Requantize { channels, bounds: step.bounds, output });
    }
    let residual = operands.read(step.residual.input, output.len())?;
    tiles.run(&mut AddResidual { channels, bounds: step.bounds, output, residual, step: step.residual })
}

/// The factors of the channels of a pair; the last pair may have one channel.
fn factors(channels: &[Channel], pair: usize) -> [Option<Factor>; CHANNELS] {
    let factor = |index: usize| channels.get(pair * CHANNELS + index).map(|channel| channel.factor.prepare());
    [factor(0), factor(1)]
}

fn biases(channels: &[Channel], pair: usize) -> [i32; CHANNELS] {
    let bias = |index: usize| channels.get(pair * CHANNELS + index).map_or(0, |channel| channel.bias);
    [bias(0), bias(1)]
}

struct Requantize<'m> {
    channels: &'m [Channel],
    bounds: Bounds,
    output: &'m mut [i8],
}

impl Epilogue for Requantize<'_> {
    fn biases(&self, pair: usize) -> [i32; CHANNELS] {
        biases(self.channels, pair)
    }

    fn store(&mut self, pair: usize, pixel: usize, sums: &[[i32; CHANNELS]]) {
        let stride = self.channels.len();
        for (index, factor) in factors(self.channels, pair).into_iter().enumerate() {
            let (Some(factor), mut place) = (factor, pixel * stride + pair * CHANNELS + index) else { return };
            for sums in sums {
                if let Some(result) = self.output.get_mut(place) {
                    *result = self.bounds.clamp(factor.apply(sums[index]));
                }
                place += stride;
            }
        }
    }
}

/// Adds a residual tensor with [`FRACTION`] fractional bits before the last rounding.
struct AddResidual<'m> {
    channels: &'m [Channel],
    bounds: Bounds,
    output: &'m mut [i8],
    residual: &'m [i8],
    step: Residual,
}

impl Epilogue for AddResidual<'_> {
    fn biases(&self, pair: usize) -> [i32; CHANNELS] {
        biases(self.channels, pair)
    }

    fn store(&mut self, pair: usize, pixel: usize, sums: &[[i32; CHANNELS]]) {
        let (stride, bounds) = (self.channels.len(), self.bounds);
        let (scale, zero) = (self.step.scale.prepare(), self.step.zero);
        for (index, factor) in factors(self.channels, pair).into_iter().enumerate() {
            let (Some(factor), mut start) = (factor, pixel * stride + pair * CHANNELS + index) else { return };
            for sums in sums {
                let (place, other) = (self.output.get_mut(start), self.residual.get(start).copied());
                let other = scale.apply(i32::from(other.unwrap_or_default()).wrapping_sub(zero));
                let sum = factor.apply(sums[index]).wrapping_add(other);
                if let Some(place) = place {
                    *place = bounds.clamp(divide_by_power_of_two(sum, FRACTION));
                }
                start += stride;
            }
        }
    }
}
