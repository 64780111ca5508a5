//! Convolution and fully connected layers: the columns of a tile of pixels times packed weights.

use core::num::NonZero;
use core::ops::Range;

use et_core::{Error, Result};
use et_runtime::Listener;

use crate::memory::Operands;
use crate::requantize::shifted_product;
use crate::row::int16::{Layer, MOST_PRODUCTS, products, tile_to_int16};
use crate::row::{CHANNELS, LANES};
use crate::run::columns::{BlockColumn, Column, Pixel};
use crate::run::rows::Rows;
use crate::{Channel16, Convolution16, Convolution16ToFloat, Place, Window};

#[cfg(feature = "int16-convolution")]
pub fn convolution(step: &Convolution16, mut operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    let window = &step.window;
    let mut tiles = Tiles::new([step.input, step.tile], [step.weights, step.channels], window, &mut operands)?;
    let output = operands.write::<i16>(step.output, window.output_len()?)?;
    let (weights, channels) = (tiles.weights, tiles.channels);
    let layer = Layer { weights, channels, limits: step.limits, narrow: step.narrow == 1, block: tiles.block };
    let mut rows = Rows::of(window, listener);
    while let Some((pixels, columns)) = tiles.next() {
        let count = pixels.len();
        let results = output.get_mut(pixels.start * channels.len()..pixels.end * channels.len()).unwrap_or_default();
        if count == LANES {
            layer.tile::<LANES>(columns, results)
        } else {
            layer.tile::<1>(columns, results)
        }
        rows.computed(count);
    }
    Ok(())
}

/// Computes results in float32.
#[cfg(feature = "int16-float-output")]
pub fn convolution_to_float(
    step: &Convolution16ToFloat,
    mut operands: Operands<'_, '_>,
    listener: &mut Listener<'_>,
) -> Result<()> {
    let window = &step.window;
    let mut tiles = Tiles::new([step.input, step.tile], [step.weights, step.channels], window, &mut operands)?;
    let output = operands.write::<f32>(step.output, window.output_len()?)?;
    let plane = NonZero::new(window.out_height as usize * window.out_width as usize).unwrap_or(NonZero::<usize>::MIN);
    let channels = tiles.channels;
    let (panel, block, weights) = (tiles.panel(), tiles.block, tiles.weights);
    let mut rows = Rows::of(window, listener);
    while let Some((pixels, columns)) = tiles.next() {
        let count = pixels.len();
        for (index, (weights, pair)) in weights.chunks_exact(panel).zip(channels.chunks(CHANNELS)).enumerate() {
            let mut numbers = [[0.0; CHANNELS]; LANES];
            if count == LANES {
                numbers = real_sums::<LANES>(block, columns, weights, pair, step.narrow == 1);
            } else {
                [numbers[0]] = real_sums::<1>(block, columns, weights, pair, step.narrow == 1);
            }
            for (pixel, numbers) in pixels.clone().zip(numbers) {
                for ((channel, sum), constants) in (index * CHANNELS..).zip(numbers).zip(pair) {
                    let at = (pixel / plane * channels.len() + channel) * plane.get() + pixel % plane;
                    let number = sum * f32::from_bits(constants.multiplier.cast_unsigned());
                    if let Some(place) = output.get_mut(at) {
                        *place = number.min(step.most).max(step.least);
                    }
                }
            }
        }
        rows.computed(count);
    }
    Ok(())
}

/// The operands of a convolution in tiles of [`LANES`] pixels, or one.
struct Tiles<'m> {
    input: &'m [i16],
    tile: &'m mut [i16],
    weights: &'m [i8],
    channels: &'m [Channel16],
    window: Window,
    pixel: Pixel,
    done: usize,
    pixels: usize,
    /// The products of a block, and those of an element of the result in whole blocks.
    block: usize,
    products: usize,
}

impl<'m> Tiles<'m> {
    fn new<'a: 'm>(
        [input, tile]: [Place; 2],
        [weights, channels]: [u32; 2],
        window: &Window,
        operands: &mut Operands<'m, 'a>,
    ) -> Result<Self> {
        let (count, block) = (window.out_channels as usize, operands.row().int16_block());
        let products = window.int16_column_len(block)?;
        let bytes = count.div_ceil(CHANNELS).checked_mul(CHANNELS * products).ok_or(Error::InvalidProgram)?;
        Ok(Self {
            input: operands.read(input, window.input_len()?)?,
            tile: operands.write(tile, window.int16_tile_len(block)?)?,
            weights: operands.constant(weights, bytes)?,
            channels: operands.constant(channels, count)?,
            window: *window,
            pixel: Pixel::default(),
            done: 0,
            pixels: window.out_pixels()?,
            block,
            products,
        })
    }

    /// Bytes of the weights of a panel.
    fn panel(&self) -> usize {
        (CHANNELS * self.products).max(1)
    }

    /// The pixels of the next tile, and their columns; `None` behind the last pixel.
    fn next(&mut self) -> Option<(Range<usize>, &[i16])> {
        let left = self.pixels.checked_sub(self.done).filter(|left| *left > 0)?;
        let lanes = if left >= LANES { LANES } else { 1 };
        for lane in 0..lanes {
            if self.block == 2 {
                Column::new(self.tile, lanes, lane).fill(self.input, &self.window, 0, self.pixel);
            } else {
                BlockColumn::new(self.tile, [lanes, lane]).fill(self.input, &self.window, self.pixel);
            }
            self.pixel.advance(&self.window);
        }
        let first = self.done;
        self.done += lanes;
        Some((first..self.done, self.tile.get(..lanes * self.products).unwrap_or_default()))
    }
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
                let mut sums = narrow_biases::<P>(channels);
                products(self.block, columns, weights, &mut sums);
                self.store(place, channels, results, |pixel, at, multiplier, _| {
                    // The rule for a shift of 32, whose product has 64 bits.
                    shifted_product(sums[pixel][at].into(), multiplier, 32)
                });
            } else {
                let sums = wide_sums::<P>(self.block, columns, weights, channels);
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

/// The sums of a panel as real numbers.
#[cfg(feature = "int16-float-output")]
#[inline(always)]
fn real_sums<const P: usize>(
    block: usize,
    columns: &[i16],
    weights: &[i8],
    channels: &[Channel16],
    narrow: bool,
) -> [[f32; CHANNELS]; P] {
    if !narrow {
        return wide_sums::<P>(block, columns, weights, channels).map(|sums| sums.map(|sum| sum as f32));
    }
    let mut sums = narrow_biases::<P>(channels);
    products(block, columns, weights, &mut sums);
    sums.map(|sums| sums.map(|sum| sum as f32))
}

/// What sums of 32 bits begin with.
#[inline(always)]
fn narrow_biases<const P: usize>(channels: &[Channel16]) -> [[i32; CHANNELS]; P] {
    let bias = |at: usize| channels.get(at).map_or(0, |channel| channel.bias_low.cast_signed());
    [[bias(0), bias(1)]; P]
}

/// The sums of a panel in 64 bits, from parts that fit in 32.
#[inline(never)]
fn wide_sums<const P: usize>(
    block: usize,
    columns: &[i16],
    weights: &[i8],
    channels: &[Channel16],
) -> [[i64; CHANNELS]; P] {
    let bias = |at: usize| channels.get(at).map_or(0, Channel16::bias);
    let mut totals = [[bias(0), bias(1)]; P];
    for (columns, weights) in columns.chunks(P * MOST_PRODUCTS).zip(weights.chunks(CHANNELS * MOST_PRODUCTS)) {
        let mut sums = [[0; CHANNELS]; P];
        products(block, columns, weights, &mut sums);
        for (total, sum) in totals.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
            *total += i64::from(*sum);
        }
    }
    totals
}
