//! Convolution and fully connected layers, int8 to float32.

use core::num::NonZero;

use et_core::Result;
use et_runtime::Listener;

use super::rows::Rows;
use super::tiles::{Epilogue, Places, Tiled, tiles};
#[cfg(feature = "int4-float-output")]
use crate::Convolution4ToFloat;
use crate::ConvolutionToFloat;
use crate::memory::{FloatChannel, Operands};

#[cfg(feature = "float-output")]
pub fn run(step: &ConvolutionToFloat, mut operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    let window = step.window;
    let places = Places { input: step.input, tile: step.tile, weights: step.weights };
    let mut tiles = tiles(&places, (window, step.input_zero), &mut operands)?;
    let mut epilogue = Dequantize::of(step, &mut operands)?;
    let mut rows = Rows::of(&window, listener);
    while let Some(pixels) = tiles.next(rows.most()) {
        tiles.sums(pixels.start, &mut epilogue);
        rows.computed(pixels.len());
    }
    Ok(())
}

/// Computes a convolution with int4 weights.
#[cfg(feature = "int4-float-output")]
pub fn run4(step: &Convolution4ToFloat, mut operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    let (step, panel) = (&step.convolution, step.panel);
    let (window, places) = ((step.window, step.input_zero), [step.input, step.tile, panel]);
    let (mut tiles, mut weights) = super::int4::tiles(places, step.weights, window, &mut operands)?;
    let mut epilogue = Dequantize::of(step, &mut operands)?;
    let mut rows = Rows::of(&step.window, listener);
    while let Some(pixels) = tiles.next(rows.most()) {
        tiles.sums_of_int4(&mut weights, pixels.start, &mut epilogue);
        rows.computed(pixels.len());
    }
    Ok(())
}

struct Dequantize<'m> {
    channels: &'m [FloatChannel],
    output: &'m mut [f32],
    /// Pixels of an output image, whose order is row-major.
    plane: NonZero<usize>,
    least: f32,
    most: f32,
}

impl<'m> Dequantize<'m> {
    /// The epilogue of a layer.
    fn of<'a: 'm>(step: &ConvolutionToFloat, operands: &mut Operands<'m, 'a>) -> Result<Self> {
        let window = &step.window;
        let plane = NonZero::new(window.out_height as usize * window.out_width as usize);
        Ok(Self {
            channels: operands.constant(step.channels, window.out_channels as usize)?,
            output: operands.write(step.output, window.output_len()?)?,
            plane: plane.unwrap_or(NonZero::<usize>::MIN),
            least: step.least,
            most: step.most,
        })
    }
}

impl Epilogue for Dequantize<'_> {
    fn bias(&self, channel: usize) -> i32 {
        self.channels.get(channel).map_or(0, |channel| channel.bias)
    }

    fn store(&mut self, channel: usize, pixel: usize, sums: &[i32]) {
        let Some(constants) = self.channels.get(channel) else { return };
        for (pixel, sum) in (pixel..).zip(sums) {
            let place = (pixel / self.plane * self.channels.len() + channel) * self.plane.get() + pixel % self.plane;
            let number = *sum as f32 * constants.scale;
            if let Some(place) = self.output.get_mut(place) {
                *place = number.min(self.most).max(self.least);
            }
        }
    }
}
