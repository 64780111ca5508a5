//! Convolution and fully connected layers, int8 to int8.

use core::ops::Range;

#[cfg(feature = "sum")]
use et_core::Error;
use et_core::Result;
use et_runtime::Listener;

use super::rows::Rows;
use super::tiles::{Epilogue, Layer, Places, Tiled, Tiles, tiles};
#[cfg(feature = "int4")]
use crate::Convolution4;
#[cfg(feature = "sum")]
use crate::ConvolutionAdd;
#[cfg(any(feature = "residual", feature = "sum"))]
use crate::Place;
use crate::memory::Operands;
#[cfg(feature = "residual")]
use crate::requantize::{FRACTION, divide_by_power_of_two};
use crate::{Bounds, Channel, Convolution};
#[cfg(feature = "residual")]
use crate::{ConvolutionResidual, Residual};

#[cfg(feature = "convolution")]
pub fn run(step: &Convolution, mut operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    let (mut tiles, channels) = operands_of(step, &mut operands)?;
    let output = operands.write::<i8>(step.output, step.window.output_len()?)?;
    let layer = Layer { channels, bounds: step.bounds, direct: step.direct == 1 };
    let mut rows = Rows::of(&step.window, listener);
    while let Some(pixels) = tiles.next(rows.most()) {
        let count = pixels.len();
        tiles.int8(&layer, results(output, pixels, channels.len()));
        rows.computed(count);
    }
    Ok(())
}

/// Computes a convolution with int4 weights.
#[cfg(feature = "int4")]
pub fn run4(step: &Convolution4, mut operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    let (step, panel) = (&step.convolution, step.panel);
    let (window, places) = ((step.window, step.input_zero), [step.input, step.tile, panel]);
    let (mut tiles, mut weights) = super::int4::tiles(places, step.weights, window, &mut operands)?;
    let channels = operands.constant(step.channels, step.window.out_channels as usize)?;
    let output = operands.write::<i8>(step.output, step.window.output_len()?)?;
    let layer = Layer { channels, bounds: step.bounds, direct: step.direct == 1 };
    let mut rows = Rows::of(&step.window, listener);
    while let Some(pixels) = tiles.next(rows.most()) {
        let count = pixels.len();
        tiles.int8_of_int4(&mut weights, &layer, results(output, pixels, channels.len()));
        rows.computed(count);
    }
    Ok(())
}

/// The results of pixels.
fn results<T>(output: &mut [T], pixels: Range<usize>, channels: usize) -> &mut [T] {
    output.get_mut(pixels.start * channels..pixels.end * channels).unwrap_or_default()
}

/// Computes the results of a tile in scratch, and adds them to the other operand.
#[cfg(feature = "sum")]
pub fn run_add(step: &ConvolutionAdd, mut operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    let convolution = &step.convolution;
    let (mut tiles, channels) = operands_of(convolution, &mut operands)?;
    let lanes = operands.row().layout().lanes();
    let output = operands.write::<i8>(convolution.output, convolution.window.output_len()?)?;
    let other = other(step.other, convolution, &mut operands)?;
    let scratch =
        operands.write::<i8>(step.results, channels.len().checked_mul(lanes).ok_or(Error::InvalidProgram)?)?;
    let layer = Layer { channels, bounds: convolution.bounds, direct: convolution.direct == 1 };
    let (sum, mut done) = (step.sum.prepare(), 0);
    let mut rows = Rows::of(&convolution.window, listener);
    while let Some(pixels) = tiles.next(lanes) {
        let count = pixels.len();
        let results = results(output, pixels, channels.len());
        let scratch = scratch.get_mut(..results.len()).unwrap_or_default();
        tiles.int8(&layer, scratch);
        sum.add(scratch, other.map(|other| other.get(done..).unwrap_or_default()), results);
        done += results.len();
        rows.computed(count);
    }
    Ok(())
}

/// Adds the other operand to the accumulators.
#[cfg(feature = "residual")]
pub fn run_residual(
    step: &ConvolutionResidual,
    mut operands: Operands<'_, '_>,
    listener: &mut Listener<'_>,
) -> Result<()> {
    let (convolution, residual) = (&step.convolution, step.residual);
    let (mut tiles, channels) = operands_of(convolution, &mut operands)?;
    let output = operands.write::<i8>(convolution.output, convolution.window.output_len()?)?;
    let other = other(residual.input, convolution, &mut operands)?;
    let mut epilogue = AddResidual { channels, bounds: convolution.bounds, output, other, residual };
    let mut rows = Rows::of(&convolution.window, listener);
    while let Some(pixels) = tiles.next(rows.most()) {
        tiles.sums(pixels.start, &mut epilogue);
        rows.computed(pixels.len());
    }
    Ok(())
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
#[cfg(feature = "convolution")]
fn operands_of<'m, 'a>(step: &Convolution, operands: &mut Operands<'m, 'a>) -> Result<(Tiles<'m>, &'m [Channel])>
where
    'a: 'm,
{
    let places = Places { input: step.input, tile: step.tile, weights: step.weights };
    let tiles = tiles(&places, (step.window, step.input_zero), operands)?;
    Ok((tiles, operands.constant(step.channels, step.window.out_channels as usize)?))
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
    fn bias(&self, channel: usize) -> i32 {
        self.channels.get(channel).map_or(0, |channel| channel.bias)
    }

    fn store(&mut self, channel: usize, pixel: usize, sums: &[i32]) {
        let (stride, bounds) = (self.channels.len(), self.bounds);
        let (Some(constants), mut start) = (self.channels.get(channel), pixel * stride + channel) else { return };
        let (scale, zero, factor) = (self.residual.scale.prepare(), self.residual.zero, constants.factor.prepare());
        for sum in sums {
            let Some(place) = self.output.get_mut(start) else { return };
            let other = self.other.map_or(*place, |other| other.get(start).copied().unwrap_or_default());
            let other = scale.apply(i32::from(other).wrapping_sub(zero));
            *place = bounds.clamp(divide_by_power_of_two(factor.apply(*sum).wrapping_add(other), FRACTION));
            start += stride;
        }
    }
}
