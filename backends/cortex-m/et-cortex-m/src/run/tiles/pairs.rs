//! The layout of pairs: int16 columns of a tile of pixels.

use core::ops::Range;

use et_core::Result;

#[cfg(any(feature = "int4", feature = "int4-float-output"))]
use super::Int4Weights;
use super::{Epilogue, Layer, Product, Requantize, Tiled};
use crate::Place;
use crate::memory::Operands;
#[cfg(any(feature = "int4", feature = "int4-float-output"))]
use crate::row::int4;
use crate::row::{CHANNELS, Direct, IS_DIRECT, LANES, products, products_of_panels, tile_to_int8};
use crate::run::columns::{Column, Pixel};

/// A convolution in tiles of [`LANES`] pixels, or one.
pub struct Pairs<'m> {
    product: Product<'m>,
    tile: &'m mut [i16],
    pixel: Pixel,
    done: usize,
    pixels: usize,
    /// Pixels of the tile.
    lanes: usize,
}

impl<'m> Tiled<'m> for Pairs<'m> {
    fn new(product: Product<'m>, tile: Place, operands: &mut Operands<'m, '_>) -> Result<Self> {
        let (tile, pixels) = (operands.write(tile, product.window.tile_len()?)?, product.window.out_pixels()?);
        Ok(Self { product, tile, pixel: Pixel::default(), done: 0, pixels, lanes: 0 })
    }

    fn next(&mut self, _: usize) -> Option<Range<usize>> {
        if self.done >= self.pixels {
            return None;
        }
        self.lanes = if self.pixels - self.done >= LANES { LANES } else { 1 };
        let (input, window, zero) = (self.product.input, &self.product.window, self.product.zero);
        for lane in 0..self.lanes {
            Column::new(self.tile, self.lanes, lane).fill(input, window, zero, self.pixel);
            self.pixel.advance(window);
        }
        let first = self.done;
        self.done += self.lanes;
        Some(first..self.done)
    }

    fn sums(&self, pixel: usize, epilogue: &mut impl Epilogue) {
        if self.lanes == LANES {
            self.sums_of::<LANES>(0, pixel, epilogue);
        } else {
            let done = self.sums_of_panels(pixel, epilogue);
            self.sums_of::<1>(done, pixel, epilogue);
        }
    }

    #[inline(never)]
    fn int8(&self, layer: &Layer<'_>, results: &mut [i8]) {
        let Layer { channels, bounds, direct } = *layer;
        if direct && IS_DIRECT {
            let (operands, direct) = ((self.columns(), self.product.weights), Direct { zero: bounds.zero });
            if self.lanes == LANES {
                tile_to_int8::<LANES>(operands, channels, direct, results);
            } else {
                tile_to_int8::<1>(operands, channels, direct, results);
            }
            return;
        }
        self.sums(0, &mut Requantize { channels, bounds, output: results });
    }

    #[cfg(any(feature = "int4", feature = "int4-float-output"))]
    fn sums_of_int4(&self, weights: &mut Int4Weights<'_>, pixel: usize, epilogue: &mut impl Epilogue) {
        if self.lanes == LANES {
            self.int4_sums_of::<LANES>(weights, pixel, epilogue);
        } else {
            self.int4_sums_of::<1>(weights, pixel, epilogue);
        }
    }

    #[cfg(feature = "int4")]
    #[inline(never)]
    fn int8_of_int4(&self, weights: &mut Int4Weights<'_>, layer: &Layer<'_>, results: &mut [i8]) {
        let Layer { channels, bounds, direct } = *layer;
        if direct && IS_DIRECT {
            let (operands, direct) = ((self.columns(), weights.bytes), Direct { zero: bounds.zero });
            if self.lanes == LANES {
                int4::tile_to_int8::<LANES>(operands, channels, direct, results);
            } else {
                int4::tile_to_int8::<1>(operands, channels, direct, results);
            }
            return;
        }
        self.sums_of_int4(weights, 0, &mut Requantize { channels, bounds, output: results });
    }
}

impl Pairs<'_> {
    /// The columns of the tile.
    fn columns(&self) -> &[i16] {
        let pairs = self.product.window.pairs().unwrap_or_default();
        self.tile.get(..2 * self.lanes * pairs).unwrap_or_default()
    }

    /// The sums of a tile of `P` pixels.
    #[inline(always)]
    fn sums_of<const P: usize>(&self, first: usize, pixel: usize, epilogue: &mut impl Epilogue) {
        let columns = self.columns();
        let panel = (CHANNELS * columns.len() / P).max(1);
        for (pair, panel) in self.product.weights.chunks_exact(panel).enumerate().skip(first) {
            let channel = pair * CHANNELS;
            let mut sums = [[0, 1].map(|index| epilogue.bias(channel + index)); P];
            products::<P>(columns, panel, &mut sums);
            for index in 0..CHANNELS {
                epilogue.store(channel + index, pixel, &sums.map(|sums| sums[index]));
            }
        }
    }

    /// The sums of a tile of `P` pixels with int4 weights.
    #[cfg(any(feature = "int4", feature = "int4-float-output"))]
    #[inline(always)]
    fn int4_sums_of<const P: usize>(&self, weights: &Int4Weights<'_>, pixel: usize, epilogue: &mut impl Epilogue) {
        let columns = self.columns();
        for (panel, bytes) in weights.bytes.chunks_exact(weights.panel).enumerate() {
            let channel = panel * CHANNELS;
            let mut sums = [[0, 1].map(|index| epilogue.bias(channel + index)); P];
            int4::products::<P>(columns, bytes, &mut sums);
            for index in 0..CHANNELS {
                epilogue.store(channel + index, pixel, &sums.map(|sums| sums[index]));
            }
        }
    }

    /// The sums of a pixel, two panels at a time; returns the number of panels.
    #[inline(always)]
    fn sums_of_panels(&self, pixel: usize, epilogue: &mut impl Epilogue) -> usize {
        let columns = self.columns();
        let mut done = 0;
        for panels in self.product.weights.chunks_exact((2 * CHANNELS * columns.len()).max(1)) {
            let channel = done * CHANNELS;
            let mut sums = [0, 2].map(|at| [0, 1].map(|index| epilogue.bias(channel + at + index)));
            products_of_panels(columns, panels, &mut sums);
            for (index, sum) in sums.as_flattened().iter().enumerate() {
                epilogue.store(channel + index, pixel, &[*sum]);
            }
            done += 2;
        }
        done
    }
}
