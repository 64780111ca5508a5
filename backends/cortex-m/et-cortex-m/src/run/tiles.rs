//! Convolution as GEMM: the columns of a tile of pixels times packed weights, in the layout of the row.

#[cfg(any(not(target_os = "none"), feature = "mve", feature = "thumb2"))]
pub mod blocks;
#[cfg(not(all(target_os = "none", any(feature = "mve", feature = "thumb2"))))]
pub mod pairs;

use core::ops::Range;

use et_core::{Error, Result};

#[cfg(all(target_os = "none", any(feature = "mve", feature = "thumb2")))]
pub use blocks::Blocks as Tiles;
#[cfg(all(target_os = "none", not(any(feature = "mve", feature = "thumb2"))))]
pub use pairs::Pairs as Tiles;

use crate::memory::Operands;
use crate::row::Layout;
use crate::{Bounds, Channel, Place, Window};

/// The operands of a convolution but for its output.
pub struct Product<'m> {
    pub input: &'m [i8],
    pub weights: &'m [i8],
    pub window: Window,
    /// The zero point of the input.
    pub zero: i32,
}

/// The weights of a convolution with int4 weights.
pub struct Int4Weights<'m> {
    /// int4 weights of all panels.
    pub bytes: &'m [u8],
    /// The bytes of a panel.
    pub panel: usize,
    /// Scratch for the int8 weights of a panel.
    pub scratch: &'m mut [i8],
}

/// Where the operands of a convolution are.
pub struct Places {
    pub input: Place,
    pub tile: Place,
    pub weights: u32,
}

/// The constants of a layer with int8 results.
#[derive(Clone, Copy)]
pub struct Layer<'m> {
    pub channels: &'m [Channel],
    pub bounds: Bounds,
    /// Whether kernels may requantize without checks.
    pub direct: bool,
}

/// Takes sums, channel by channel.
pub trait Epilogue {
    /// What the sums of a channel begin with.
    fn bias(&self, channel: usize) -> i32;

    /// Takes the sums of a channel for pixels from `pixel` on. Channels behind the last are to be ignored.
    fn store(&mut self, channel: usize, pixel: usize, sums: &[i32]);
}

/// Requantizes sums.
pub struct Requantize<'m> {
    pub channels: &'m [Channel],
    pub bounds: Bounds,
    /// `[pixel][channel]`.
    pub output: &'m mut [i8],
}

impl Epilogue for Requantize<'_> {
    fn bias(&self, channel: usize) -> i32 {
        self.channels.get(channel).map_or(0, |channel| channel.bias)
    }

    fn store(&mut self, channel: usize, pixel: usize, sums: &[i32]) {
        let stride = self.channels.len();
        let (Some(constants), mut place) = (self.channels.get(channel), pixel * stride + channel) else { return };
        if let ([sum], Some(result)) = (sums, self.output.get_mut(place)) {
            // A prepared factor pays off for several pixels.
            *result = self.bounds.clamp(constants.factor.apply(*sum));
            return;
        }
        let factor = constants.factor.prepare();
        for sum in sums {
            if let Some(result) = self.output.get_mut(place) {
                *result = self.bounds.clamp(factor.apply(*sum));
            }
            place += stride;
        }
    }
}

/// A convolution whose pixels are computed tile by tile.
pub trait Tiled<'m>: Sized {
    /// The convolution with its scratch.
    ///
    /// # Errors
    /// [`Error::InvalidProgram`] for missing memory.
    fn new(product: Product<'m>, tile: Place, operands: &mut Operands<'m, '_>) -> Result<Self>;

    /// Finds the columns of the next tile, of up to `most` pixels; `None` behind the last pixel.
    fn next(&mut self, most: usize) -> Option<Range<usize>>;

    /// The sums of the tile. The first pixel of the tile has the number `pixel` for the epilogue.
    fn sums(&self, pixel: usize, epilogue: &mut impl Epilogue);

    /// The requantized results of the tile, `[pixel][channel]`.
    fn int8(&self, layer: &Layer<'_>, results: &mut [i8]);

    /// [`Tiled::sums`] with int4 weights.
    #[cfg(any(feature = "int4", feature = "int4-float-output"))]
    fn sums_of_int4(&self, weights: &mut Int4Weights<'_>, pixel: usize, epilogue: &mut impl Epilogue);

    /// [`Tiled::int8`] with int4 weights.
    #[cfg(feature = "int4")]
    fn int8_of_int4(&self, weights: &mut Int4Weights<'_>, layer: &Layer<'_>, results: &mut [i8]);
}

/// A convolution in the layout of the blob.
#[cfg(not(target_os = "none"))]
pub enum Tiles<'m> {
    Pairs(pairs::Pairs<'m>),
    Blocks(blocks::Blocks<'m>),
}

#[cfg(not(target_os = "none"))]
impl<'m> Tiled<'m> for Tiles<'m> {
    fn new(product: Product<'m>, tile: Place, operands: &mut Operands<'m, '_>) -> Result<Self> {
        match operands.row().layout() {
            Layout::Pairs => Tiled::new(product, tile, operands).map(Self::Pairs),
            Layout::Blocks(_) => Tiled::new(product, tile, operands).map(Self::Blocks),
        }
    }

    fn next(&mut self, most: usize) -> Option<Range<usize>> {
        match self {
            Self::Pairs(tiles) => tiles.next(most),
            Self::Blocks(tiles) => tiles.next(most),
        }
    }

    fn sums(&self, pixel: usize, epilogue: &mut impl Epilogue) {
        match self {
            Self::Pairs(tiles) => tiles.sums(pixel, epilogue),
            Self::Blocks(tiles) => tiles.sums(pixel, epilogue),
        }
    }

    fn int8(&self, layer: &Layer<'_>, results: &mut [i8]) {
        match self {
            Self::Pairs(tiles) => tiles.int8(layer, results),
            Self::Blocks(tiles) => tiles.int8(layer, results),
        }
    }

    #[cfg(any(feature = "int4", feature = "int4-float-output"))]
    fn sums_of_int4(&self, weights: &mut Int4Weights<'_>, pixel: usize, epilogue: &mut impl Epilogue) {
        match self {
            Self::Pairs(tiles) => tiles.sums_of_int4(weights, pixel, epilogue),
            Self::Blocks(tiles) => tiles.sums_of_int4(weights, pixel, epilogue),
        }
    }

    #[cfg(feature = "int4")]
    fn int8_of_int4(&self, weights: &mut Int4Weights<'_>, layer: &Layer<'_>, results: &mut [i8]) {
        match self {
            Self::Pairs(tiles) => tiles.int8_of_int4(weights, layer, results),
            Self::Blocks(tiles) => tiles.int8_of_int4(weights, layer, results),
        }
    }
}

/// A convolution whose operands lie at these places.
pub fn tiles<'m, 'a>(
    places: &Places,
    (window, zero): (Window, i32),
    operands: &mut Operands<'m, 'a>,
) -> Result<Tiles<'m>>
where
    'a: 'm,
{
    let layout = operands.row().layout();
    let weights = operands.constant(places.weights, weights_len(layout, &window)?)?;
    let product = Product { input: operands.read(places.input, window.input_len()?)?, weights, window, zero };
    Tiled::new(product, places.tile, operands)
}

/// The bytes of the packed weights of a convolution.
fn weights_len(layout: Layout, window: &Window) -> Result<usize> {
    let panels = (window.out_channels as usize).div_ceil(layout.channels());
    let block = match layout {
        Layout::Pairs => 2,
        Layout::Blocks(block) => block,
    };
    let products = window.products()?.checked_next_multiple_of(block);
    let len = products.and_then(|products| products.checked_mul(layout.channels())?.checked_mul(panels));
    len.ok_or(Error::InvalidProgram)
}
