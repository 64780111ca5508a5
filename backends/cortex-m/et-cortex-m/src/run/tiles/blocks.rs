//! The layout of blocks: int8 columns, which are the image itself for a pointwise convolution.

use core::ops::Range;

use et_core::Result;

#[cfg(any(feature = "int4", feature = "int4-float-output"))]
use super::Int4Weights;
use super::{Epilogue, Layer, Product, Requantize, Tiled};
use crate::Place;
use crate::memory::Operands;
#[cfg(any(feature = "int4", feature = "int4-float-output"))]
use crate::row::int4::{half, unpack_blocks};
use crate::row::{ARE_BLOCKS_DIRECT, BLOCK_CHANNELS, Columns, Direct, Layout, block_sums, panels_to_int8};
use crate::run::columns::{Pixel, fill};

/// A convolution in tiles of some pixels.
pub struct Blocks<'m> {
    product: Product<'m>,
    /// Scratch for columns; `None` where the image has them.
    tile: Option<&'m mut [i8]>,
    pixel: Pixel,
    pixels: usize,
    /// The pixels of the tile.
    tiled: Range<usize>,
    /// The most pixels of a tile in scratch.
    lanes: usize,
    /// Products of a pixel.
    products: usize,
    /// Products of a block of weights.
    block: usize,
}

impl<'m> Tiled<'m> for Blocks<'m> {
    fn new(product: Product<'m>, tile: Place, operands: &mut Operands<'m, '_>) -> Result<Self> {
        let layout = operands.row().layout();
        let block = if let Layout::Blocks(block) = layout { block } else { 1 };
        let (pixels, products) = (product.window.out_pixels()?, product.window.products()?);
        let bytes = product.window.tile_bytes(layout)?;
        let tile = if product.window.is_pointwise() { None } else { Some(operands.write(tile, bytes)?) };
        Ok(Self { product, tile, pixel: Pixel::default(), pixels, tiled: 0..0, lanes: layout.lanes(), products, block })
    }

    fn next(&mut self, most: usize) -> Option<Range<usize>> {
        let first = self.tiled.end;
        let Product { input, window, zero, .. } = &self.product;
        let most = if self.tile.is_some() { most.min(self.lanes) } else { most };
        self.tiled = first..first.saturating_add(most).min(self.pixels);
        for column in
            self.tile.iter_mut().flat_map(|tile| tile.chunks_exact_mut(self.products.max(1))).take(self.tiled.len())
        {
            fill(column, input, (window, *zero), self.pixel);
            self.pixel.advance(window);
        }
        (!self.tiled.is_empty()).then(|| self.tiled.clone())
    }

    fn sums(&self, pixel: usize, epilogue: &mut impl Epilogue) {
        let columns = self.columns();
        for (panel, weights) in self.product.weights.chunks_exact(columns.panel_len().max(1)).enumerate() {
            panel_sums(&columns, (panel * BLOCK_CHANNELS, weights), pixel, epilogue);
        }
    }

    fn int8(&self, layer: &Layer<'_>, results: &mut [i8]) {
        let (columns, stride) = (self.columns(), layer.channels.len());
        let mut done = 0;
        if layer.direct && ARE_BLOCKS_DIRECT {
            let (whole, _) = layer.channels.as_chunks::<BLOCK_CHANNELS>();
            let direct = Direct { zero: layer.bounds.zero };
            panels_to_int8(&columns, self.product.weights, whole, direct, results, stride);
            done = whole.len();
        }
        let panels = self.product.weights.chunks_exact(columns.panel_len().max(1)).enumerate().skip(done);
        let mut requantize = Requantize { channels: layer.channels, bounds: layer.bounds, output: results };
        for (panel, weights) in panels {
            panel_sums(&columns, (panel * BLOCK_CHANNELS, weights), 0, &mut requantize);
        }
    }

    #[cfg(any(feature = "int4", feature = "int4-float-output"))]
    fn sums_of_int4(&self, weights: &mut Int4Weights<'_>, pixel: usize, epilogue: &mut impl Epilogue) {
        let columns = self.columns();
        for (panel, bytes) in weights.bytes.chunks_exact(weights.panel).enumerate() {
            unpack_blocks(bytes, half(self.block), weights.scratch);
            panel_sums(&columns, (panel * BLOCK_CHANNELS, weights.scratch), pixel, epilogue);
        }
    }

    #[cfg(feature = "int4")]
    fn int8_of_int4(&self, weights: &mut Int4Weights<'_>, layer: &Layer<'_>, results: &mut [i8]) {
        let (columns, stride) = (self.columns(), layer.channels.len());
        let (whole, _) = layer.channels.as_chunks::<BLOCK_CHANNELS>();
        let direct = Direct { zero: layer.bounds.zero };
        for (panel, bytes) in weights.bytes.chunks_exact(weights.panel).enumerate() {
            let channel = panel * BLOCK_CHANNELS;
            unpack_blocks(bytes, half(self.block), weights.scratch);
            let panel = whole.get(panel..).and_then(|rest| rest.get(..1)).filter(|_| layer.direct && ARE_BLOCKS_DIRECT);
            if let Some(panel) = panel {
                let results = results.get_mut(channel..).unwrap_or_default();
                panels_to_int8(&columns, weights.scratch, panel, direct, results, stride);
            } else {
                let mut requantize = Requantize { channels: layer.channels, bounds: layer.bounds, output: results };
                panel_sums(&columns, (channel, weights.scratch), 0, &mut requantize);
            }
        }
    }
}

impl Blocks<'_> {
    /// The columns of the tile.
    fn columns(&self) -> Columns<'_> {
        let (products, block) = (self.products, self.block);
        match &self.tile {
            Some(tile) => Columns { data: tile, products, block }.pixels(0, self.tiled.len()),
            None => Columns { data: self.product.input, products, block }.pixels(self.tiled.start, self.tiled.len()),
        }
    }
}

/// The sums of a panel, of the channels from `channel` on.
fn panel_sums(columns: &Columns<'_>, (channel, weights): (usize, &[i8]), pixel: usize, epilogue: &mut impl Epilogue) {
    let biases = [0, 1, 2, 3].map(|index| epilogue.bias(channel + index));
    for first in (0..columns.len()).step_by(2) {
        let count = (columns.len() - first).min(2);
        let sums = block_sums(&columns.pixels(first, count), weights, biases);
        for index in 0..BLOCK_CHANNELS {
            let sums = sums.map(|sums| sums[index]);
            epilogue.store(channel + index, pixel + first, sums.get(..count).unwrap_or_default());
        }
    }
}
