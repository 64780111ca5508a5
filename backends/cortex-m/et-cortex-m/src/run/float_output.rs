//! Convolution and fully connected layers, int8 to float32.

use core::num::NonZero;

use et_core::Result;

use super::tiles::{Epilogue, Tiles, weights_len};
use crate::ConvolutionToFloat;
use crate::memory::{FloatChannel, Operands};
use crate::row::CHANNELS;

pub fn run(step: &ConvolutionToFloat, mut operands: Operands<'_, '_>) -> Result<()> {
    let window = step.window;
    let mut tiles = Tiles {
        input: operands.read(step.input, window.input_len()?)?,
        tile: operands.write(step.tile, window.tile_len()?)?,
        weights: operands.constant(step.weights, weights_len(&window)?)?,
        window,
        zero: step.input_zero,
    };
    let channels = operands.constant(step.channels, window.out_channels as usize)?;
    let output = operands.write(step.output, window.output_len()?)?;
    let plane = window.out_height as usize * window.out_width as usize;
    tiles.run(&mut Dequantize {
        channels,
        output,
        plane: NonZero::new(plane).unwrap_or(NonZero::<usize>::MIN),
        least: step.least,
        most: step.most,
    })
}

struct Dequantize<'m> {
    channels: &'m [FloatChannel],
    output: &'m mut [f32],
    /// Pixels of an output image, whose order is row-major.
    plane: NonZero<usize>,
    least: f32,
    most: f32,
}

impl Epilogue for Dequantize<'_> {
    fn biases(&self, pair: usize) -> [i32; CHANNELS] {
        let mut biases = [0; CHANNELS];
        let channels = self.channels.iter().skip(pair * CHANNELS);
        biases.iter_mut().zip(channels).for_each(|(bias, channel)| *bias = channel.bias);
        biases
    }

    fn store(&mut self, pair: usize, pixel: usize, sums: &[[i32; CHANNELS]]) {
        for (index, channel) in self.channels.iter().enumerate().skip(pair * CHANNELS).take(CHANNELS) {
            for (pixel, sums) in (pixel..).zip(sums) {
                let place = (pixel / self.plane * self.channels.len() + index) * self.plane.get() + pixel % self.plane;
                let number = sums[index % CHANNELS] as f32 * channel.scale;
                if let Some(place) = self.output.get_mut(place) {
                    *place = number.min(self.most).max(self.least);
                }
            }
        }
    }
}
