//! Convolutions and fully connected layers.

use et_cortex_m::{Channel16, Convolution16, Depthwise16, Multiplier};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Links, Node};

use super::super::product::Product;
use super::{Lowering, cut, limits, reduced};
use crate::pack;
use crate::program::Storage;
use etbuild_backend::int8::pattern::{Check, Epilogue, no};

/// The largest magnitude of an int16 element.
const MOST: i64 = 1 << 15;

/// The shift of products whose upper word is the result.
const WORD: i32 = 32;

/// Accepts dense and depthwise products.
pub fn check(links: &Links<'_>, node: &Node, epilogue: &Epilogue) -> Check {
    let product = Product::of(links, node)?;
    product.check_shape()?;
    product.window.tile_len().map_err(|_| no(RefusalKind::Shape, "the convolution is too large"))?;
    table(&product, epilogue).map(|_| ())
}

/// The constants of the channels, and whether all sums fit in 32 bits and all shifts are those of a word.
fn table(product: &Product, epilogue: &Epilogue) -> Result<(Vec<Channel16>, bool), Refusal> {
    let (_, qparams) = epilogue.quantized.ok_or_else(cut)?;
    let sums = product.channels();
    let factors = (0..sums.len()).map(|channel| reduced(Multiplier::of(product.scale(channel) / qparams.scale)));
    let channels: Vec<_> = sums.iter().zip(factors).collect();
    let most = |(bias, weights): &(i64, i64)| bias.abs() + MOST * weights;
    // The rule needs sums below 2^47, and results that fit in 32 bits.
    let fits = channels.iter().all(|(sums, (factor, shift))| {
        let least = most(sums);
        (8..63).contains(shift) && least < 1 << 47 && (i128::from(least) * i128::from(*factor)) >> shift < 1 << 31
    });
    if !fits {
        return Err(no(RefusalKind::Quantization, "the sums of a channel are too large for their scale"));
    }
    let narrow = channels.iter().all(|(sums, (_, shift))| most(sums) < 1 << 31 && (17..=WORD).contains(shift));
    let channel = |((bias, _), (factor, shift)): &(&(i64, i64), (i32, i32))| {
        let more = if narrow { WORD - shift } else { 0 };
        Channel16::new(*bias, factor << more, shift + more)
    };
    Ok((channels.iter().map(channel).collect(), narrow))
}

impl Lowering<'_> {
    /// A product whose result is quantized.
    pub(super) fn product16(&mut self, node: &Node, epilogue: &Epilogue) -> Result<(), Refusal> {
        let (product, (to, qparams)) = (Product::of(self.links, node)?, epilogue.quantized.ok_or_else(cut)?);
        let (input, order) = self.product_input(&product, node)?;
        let (table, narrow) = table(&product, epilogue)?;
        let (window, limits, narrow) = (product.window, limits(epilogue, qparams), u32::from(narrow));
        let (input, channels) = (input.place(), self.program.records(&table));
        let output = self.create(to, order).place();
        let mut scratch = |bytes: usize| self.program.buffer(Storage::Scratch(bytes)).place();
        if product.is_depthwise() {
            let taps = (window.kernel_height as usize * window.kernel_width as usize).next_multiple_of(2);
            let zeros = scratch(window.in_channels as usize * size_of::<i16>());
            let offsets = scratch(2 * taps * size_of::<u32>());
            let weights = self.program.constant(&pack::depthwise(&product.integers(), &window));
            let step = Depthwise16 { input, output, zeros, offsets, window, weights, channels, limits, narrow };
            self.program.emit(step, self.name(to));
            return Ok(());
        }
        let elements = window.tile_len().map_err(|_| cut())?;
        let tile = scratch(elements * size_of::<i16>());
        let weights = self.program.constant(&pack::pairs(&product.integers(), &window));
        let step = Convolution16 { input, output, tile, window, weights, channels, limits, narrow };
        self.program.emit(step, self.name(to));
        Ok(())
    }
}
