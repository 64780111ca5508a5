//! Convolution as GEMM: columns of a tile of pixels times packed weights.

use et_core::{Error, Result};

use super::columns::{Column, Pixel};
use crate::Window;
use crate::row::{CHANNELS, LANES, products};

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
        let pixels = self.window.out_pixels()?;
        let (mut pixel, mut done) = (Pixel::default(), 0);
        while done < pixels {
            if pixels - done >= LANES {
                self.tile::<LANES>(&mut pixel, done, epilogue);
                done += LANES;
            } else {
                self.tile::<1>(&mut pixel, done, epilogue);
                done += 1;
            }
        }
        Ok(())
    }

    /// Fills the columns of the next `P` pixels; returns them and the weights.
    pub fn fill<const P: usize>(&mut self, pixel: &mut Pixel) -> (&[i16], &[i8]) {
        for lane in 0..P {
            Column::new(self.tile, P, lane).fill(self.input, &self.window, self.zero, *pixel);
            pixel.advance(&self.window);
        }
        let pairs = self.window.pairs().unwrap_or_default();
        (self.tile.get(..2 * P * pairs).unwrap_or_default(), self.weights)
    }

    /// Computes the next `P` pixels, of which `first` is the number of the first in the results.
    pub fn tile<const P: usize>(&mut self, pixel: &mut Pixel, first: usize, epilogue: &mut impl Epilogue) {
        let (tile, weights) = self.fill::<P>(pixel);
        let panel = (CHANNELS * tile.len() / P).max(1);
        for (pair, panel) in weights.chunks_exact(panel).enumerate() {
            let mut sums = [epilogue.biases(pair); P];
            products::<P>(tile, panel, &mut sums);
            epilogue.store(pair, first, &sums);
        }
    }
}
