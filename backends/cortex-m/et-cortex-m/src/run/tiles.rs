//! Convolution as GEMM: columns of a tile of pixels times packed weights.

use et_core::{Error, Result};

use super::columns::{Column, Pixel};
use crate::Window;
use crate::row::{CHANNELS, LANES, products};
#[cfg(feature = "convolution")]
use crate::{
    Channel,
    row::{Direct, tile_to_int8},
};

/// The operands of a convolution.
pub struct Tiles<'m> {
    pub input: &'m [i8],
    pub tile: &'m mut [i16],
    pub weights: &'m [i8],
    pub window: Window,
    pub zero: i32,
}

/// Takes the sums of pixels from the first on, for the channels of a pair.
pub trait Epilogue {
    /// What the sums of a pair of channels begin with.
    fn biases(&self, pair: usize) -> [i32; CHANNELS];

    /// Takes the sums of a pair of channels, pixel by pixel.
    fn store(&mut self, pair: usize, pixel: usize, sums: &[[i32; CHANNELS]]);
}

/// The bytes of the packed weights of a convolution.
pub fn weights_len(window: &Window) -> Result<usize> {
    let panels = (window.out_channels as usize).div_ceil(CHANNELS);
    let len = window.pairs()?.checked_mul(2 * CHANNELS).and_then(|panel| panel.checked_mul(panels));
    len.ok_or(Error::InvalidProgram)
}

impl Tiles<'_> {
    /// Computes all pixels.
    pub fn run(&mut self, epilogue: &mut impl Epilogue) -> Result<()> {
        let (pixels, pairs) = (self.window.out_pixels()?, self.window.pairs()?);
        let (mut pixel, mut done) = (Pixel::default(), 0);
        while done < pixels {
            if pixels - done >= LANES {
                self.tile::<LANES>(&mut pixel, (done, pairs), epilogue);
                done += LANES;
            } else {
                self.tile::<1>(&mut pixel, (done, pairs), epilogue);
                done += 1;
            }
        }
        Ok(())
    }

    /// Computes all pixels to int8, with kernels that requantize.
    #[cfg(feature = "convolution")]
    pub fn run_direct(&mut self, (channels, direct): (&[Channel], Direct), output: &mut [i8]) -> Result<()> {
        let pairs = self.window.pairs()?;
        let mut pixel = Pixel::default();
        let mut tiles = output.chunks_exact_mut((LANES * channels.len()).max(1));
        for results in &mut tiles {
            self.fill::<LANES>(&mut pixel);
            let tile = self.tile.get(..2 * LANES * pairs).unwrap_or_default();
            tile_to_int8::<LANES>((tile, self.weights), channels, direct, results);
        }
        for results in tiles.into_remainder().chunks_exact_mut(channels.len().max(1)) {
            self.fill::<1>(&mut pixel);
            let tile = self.tile.get(..2 * pairs).unwrap_or_default();
            tile_to_int8::<1>((tile, self.weights), channels, direct, results);
        }
        Ok(())
    }

    /// Fills the columns of the next pixels.
    fn fill<const P: usize>(&mut self, pixel: &mut Pixel) {
        for lane in 0..P {
            Column::new(self.tile, P, lane).fill(self.input, &self.window, self.zero, *pixel);
            pixel.advance(&self.window);
        }
    }

    fn tile<const P: usize>(&mut self, pixel: &mut Pixel, (done, pairs): (usize, usize), epilogue: &mut impl Epilogue) {
        self.fill::<P>(pixel);
        let tile = self.tile.get(..2 * P * pairs).unwrap_or_default();
        for (pair, panel) in self.weights.chunks_exact((2 * CHANNELS * pairs).max(1)).enumerate() {
            let mut sums = [epilogue.biases(pair); P];
            products::<P>(tile, panel, &mut sums);
            epilogue.store(pair, done, &sums);
        }
    }
}
