//! Convolution and fully connected layers, int8 to int8.

#[cfg(feature = "sum")]
use et_core::Error;
use et_core::Result;

use super::columns::Pixel;
use super::tiles::{Epilogue, Tiles, weights_len};
#[cfg(feature = "sum")]
use crate::ConvolutionAdd;
#[cfg(any(feature = "residual", feature = "sum"))]
use crate::Place;
use crate::memory::Operands;
use crate::requantize::Factor;
#[cfg(feature = "residual")]
use crate::requantize::{FRACTION, divide_by_power_of_two};
use crate::row::{CHANNELS, Direct, IS_DIRECT, LANES, tile_to_int8};
use crate::{Bounds, Channel, Convolution};
#[cfg(feature = "residual")]
use crate::{ConvolutionResidual, Residual};

pub fn run(step: &Convolution, mut operands: Operands<'_, '_>) -> Result<()> {
    let (mut tiles, channels) = tiles(step, &mut operands)?;
    let output = operands.write::<i8>(step.output, step.window.output_len()?)?;
    let layer = Layer { channels, bounds: step.bounds, direct: step.direct == 1 };
    tiles.run_int8(&layer, output, |tiles, pixel, results| tiles.int8(&layer, pixel, results))
}

/// Computes the results of a tile in scratch, and adds them to the other operand.
#[cfg(feature = "sum")]
pub fn run_add(step: &ConvolutionAdd, mut operands: Operands<'_, '_>) -> Result<()> {
    let convolution = &step.convolution;
    let (mut tiles, channels) = tiles(convolution, &mut operands)?;
    let output = operands.write::<i8>(convolution.output, convolution.window.output_len()?)?;
    let other = other(step.other, convolution, &mut operands)?;
    let scratch =
        operands.write::<i8>(step.results, channels.len().checked_mul(LANES).ok_or(Error::InvalidProgram)?)?;
    let layer = Layer { channels, bounds: convolution.bounds, direct: convolution.direct == 1 };
    let (sum, mut done) = (step.sum.prepare(), 0);
    tiles.run_int8(&layer, output, |tiles, pixel, results| {
        let scratch = scratch.get_mut(..results.len()).unwrap_or_default();
        tiles.int8(&layer, pixel, scratch);
        let other = other.map(|other| other.get(done..).unwrap_or_default());
        for (index, (result, left)) in results.iter_mut().zip(scratch).enumerate() {
            let right = other.map_or(*result, |other| other.get(index).copied().unwrap_or_default());
            *result = sum.of(i32::from(*left), i32::from(right));
        }
        done += results.len();
    })
}

/// Adds the other operand to the accumulators.
#[cfg(feature = "residual")]
pub fn run_residual(step: &ConvolutionResidual, mut operands: Operands<'_, '_>) -> Result<()> {
    let (convolution, residual) = (&step.convolution, step.residual);
    let (mut tiles, channels) = tiles(convolution, &mut operands)?;
    let output = operands.write::<i8>(convolution.output, convolution.window.output_len()?)?;
    let other = other(residual.input, convolution, &mut operands)?;
    tiles.run(&mut AddResidual { channels, bounds: convolution.bounds, output, other, residual })
}

/// The other operand of a sum; `None` where that is the output.
#[cfg(any(feature = "residual", feature = "sum"))]
fn other<'m>(place: Place, step: &Convolution, operands: &mut Operands<'m, '_>) -> Result<Option<&'m [i8]>> {
    if place == step.output {
        return Ok(None);
    }
    operands.read(place, step.window.output_len()?).map(Some)
}

/// The operands of a convolution but for its output, and the constants of its channels.
fn tiles<'m, 'a>(step: &Convolution, operands: &mut Operands<'m, 'a>) -> Result<(Tiles<'m>, &'m [Channel])>
where
    'a: 'm,
{
    let window = step.window;
    let tiles = Tiles {
        input: operands.read(step.input, window.input_len()?)?,
        tile: operands.write(step.tile, window.tile_len()?)?,
        weights: operands.constant(step.weights, weights_len(&window)?)?,
        window,
        zero: step.input_zero,
    };
    Ok((tiles, operands.constant(step.channels, window.out_channels as usize)?))
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

/// The constants of a layer with int8 results.
pub struct Layer<'m> {
    channels: &'m [Channel],
    bounds: Bounds,
    direct: bool,
}

impl Tiles<'_> {
    /// Computes all pixels: `step` takes the number of the first and the results of a tile, [`LANES`] pixels or one.
    fn run_int8(
        &mut self,
        layer: &Layer<'_>,
        output: &mut [i8],
        mut step: impl FnMut(&mut Self, &mut Pixel, &mut [i8]),
    ) -> Result<()> {
        let channels = layer.channels.len().max(1);
        let mut pixel = Pixel::default();
        for tile in output.chunks_mut(LANES * channels) {
            let pixels = if tile.len() == LANES * channels { LANES } else { 1 };
            for results in tile.chunks_exact_mut(pixels * channels) {
                step(self, &mut pixel, results);
            }
        }
        Ok(())
    }

    /// Computes the results of the next pixels, [`LANES`] or one.
    #[inline(never)]
    fn int8(&mut self, layer: &Layer<'_>, pixel: &mut Pixel, results: &mut [i8]) {
        if results.len() == LANES * layer.channels.len() {
            self.int8_tile::<LANES>(layer, pixel, results);
        } else {
            self.int8_tile::<1>(layer, pixel, results);
        }
    }

    #[inline(always)]
    fn int8_tile<const P: usize>(&mut self, layer: &Layer<'_>, pixel: &mut Pixel, output: &mut [i8]) {
        let Layer { channels, bounds, direct } = *layer;
        if direct && IS_DIRECT {
            let tile = self.fill::<P>(pixel);
            return tile_to_int8::<P>(tile, channels, Direct { zero: bounds.zero }, output);
        }
        self.tile::<P>(pixel, 0, &mut Requantize { channels, bounds, output });
    }
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
        if let [sums] = sums {
            // Prepared factors pay off for several pixels.
            let start = pixel * self.channels.len() + pair * CHANNELS;
            let results = self.output.get_mut(start..).unwrap_or_default().iter_mut();
            for ((result, sum), channel) in results.zip(sums).zip(self.channels.iter().skip(pair * CHANNELS)) {
                *result = self.bounds.clamp(channel.factor.apply(*sum));
            }
            return;
        }
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

/// Adds a residual tensor with [`FRACTION`] fractional bits before the last rounding: the output itself, or another.
#[cfg(feature = "residual")]
struct AddResidual<'m> {
    channels: &'m [Channel],
    bounds: Bounds,
    output: &'m mut [i8],
    other: Option<&'m [i8]>,
    residual: Residual,
}

#[cfg(feature = "residual")]
impl Epilogue for AddResidual<'_> {
    fn biases(&self, pair: usize) -> [i32; CHANNELS] {
        biases(self.channels, pair)
    }

    fn store(&mut self, pair: usize, pixel: usize, sums: &[[i32; CHANNELS]]) {
        let (stride, bounds) = (self.channels.len(), self.bounds);
        let (scale, zero) = (self.residual.scale.prepare(), self.residual.zero);
        for (index, factor) in factors(self.channels, pair).into_iter().enumerate() {
            let (Some(factor), mut start) = (factor, pixel * stride + pair * CHANNELS + index) else { return };
            for sums in sums {
                let Some(place) = self.output.get_mut(start) else { return };
                let other = self.other.map_or(*place, |other| other.get(start).copied().unwrap_or_default());
                let other = scale.apply(i32::from(other).wrapping_sub(zero));
                let sum = factor.apply(sums[index]).wrapping_add(other);
                *place = bounds.clamp(divide_by_power_of_two(sum, FRACTION));
                start += stride;
            }
        }
    }
}
