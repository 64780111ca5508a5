//! Convolutions and fully connected layers.

use et_cortex_m::{Channel16, Convolution16, Convolution16ToFloat, Depthwise16, Multiplier, Place, Window};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Links, Node};

use super::super::product::Product;
use super::{Lowering, cut, limits, reduced};
use crate::pack;
use crate::program::{Buffer, Storage};
use etbuild_backend::int8::pattern::{Check, Epilogue, no};

/// The largest magnitude of an int16 element.
const MOST: i64 = 1 << 15;

/// The rule needs sums below.
const MOST_SUM: i64 = 1 << 47;

/// The shift of products whose upper word is the result.
const WORD: i32 = 32;

/// Accepts products whose sums fit.
pub fn check(links: &Links<'_>, node: &Node, epilogue: &Epilogue) -> Check {
    let product = Product::of(links, node)?;
    product.check_shape()?;
    if epilogue.residual.is_some() {
        return Err(no(RefusalKind::Quantization, "a sum takes the result before quantization"));
    }
    product.window.tile_len().map_err(|_| no(RefusalKind::Shape, "the convolution is too large"))?;
    if epilogue.quantized.is_some() {
        return table(&product, epilogue).map(|_| ());
    }
    let fits = product.channels().iter().all(|sums| most(sums) < MOST_SUM);
    fits.then_some(()).ok_or_else(|| no(RefusalKind::Quantization, "the sums of a channel are too large"))
}

/// The largest magnitude of the sums of a channel.
const fn most((bias, weights): &(i64, i64)) -> i64 {
    bias.abs() + MOST * *weights
}

/// The constants of the channels, and whether all sums fit in 32 bits and all shifts are those of a word.
fn table(product: &Product, epilogue: &Epilogue) -> Result<(Vec<Channel16>, bool), Refusal> {
    let (_, qparams) = epilogue.quantized.ok_or_else(cut)?;
    let sums = product.channels();
    let factors = (0..sums.len()).map(|channel| reduced(Multiplier::of(product.scale(channel) / qparams.scale)));
    let channels: Vec<_> = sums.iter().zip(factors).collect();
    // Results fit in 32 bits.
    let fits = channels.iter().all(|(sums, (factor, shift))| {
        let least = most(sums);
        (8..63).contains(shift) && least < MOST_SUM && (i128::from(least) * i128::from(*factor)) >> shift < 1 << 31
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
        let output = self.create(to, order);
        if product.is_depthwise() {
            let (input, output, channels) = (input.place(), output.place(), self.program.records(&table));
            let mut scratch = |bytes: usize| self.program.buffer(Storage::Scratch(bytes)).place();
            let taps = (window.kernel_height as usize * window.kernel_width as usize).next_multiple_of(2);
            let zeros = scratch(window.in_channels as usize * size_of::<i16>());
            let offsets = scratch(2 * taps * size_of::<u32>());
            let weights = self.program.constant(&pack::depthwise(&product.integers(), &window));
            let step = Depthwise16 { input, output, zeros, offsets, window, weights, channels, limits, narrow };
            self.program.emit(step, self.name(to));
            return Ok(());
        }
        let integers = product.integers();
        self.in_groups(&product, (input, output), to, |lowering, part| {
            let (input, output, window) = (part.input, part.output, part.window);
            let tile = lowering.tile16(&window)?;
            let weights = lowering.weights16(part.of(&integers, product.window.out_channels), &window);
            let channels = lowering.program.records(part.of(&table, product.window.out_channels));
            let step = Convolution16 { input, output, tile, window, weights, channels, limits, narrow };
            lowering.program.emit(step, lowering.name(to));
            Ok(())
        })
    }

    /// A product whose result leaves the partition as float32.
    pub(in super::super) fn product16_to_float(
        &mut self,
        node: &Node,
        epilogue: &Epilogue,
        output: Buffer,
    ) -> Result<(), Refusal> {
        let product = Product::of(self.links, node)?;
        let (input, _) = self.product_input(&product, node)?;
        let (window, channels) = (product.window, product.channels().into_iter().enumerate());
        let scale = |channel: usize| (product.scale(channel) as f32).to_bits().cast_signed();
        let table: Vec<_> = channels.map(|(channel, (bias, _))| Channel16::new(bias, scale(channel), 0)).collect();
        let step = Convolution16ToFloat {
            input: input.place(),
            output: output.place(),
            tile: self.tile16(&window)?,
            window,
            weights: self.weights16(&product.dense(), &window),
            channels: self.program.records(&table),
            least: epilogue.least as f32,
            most: epilogue.most as f32,
            narrow: u32::from(product.channels().iter().all(|sums| most(sums) < 1 << 31)),
        };
        self.program.emit(step, self.name(epilogue.last));
        Ok(())
    }

    /// Scratch for the columns of a tile.
    fn tile16(&mut self, window: &Window) -> Result<Place, Refusal> {
        let elements = window.int16_tile_len(self.row.int16_block()).map_err(|_| cut())?;
        Ok(self.program.buffer(Storage::Scratch(elements * size_of::<i16>())).place())
    }

    /// The weights of a convolution in the layout of the row.
    pub(in super::super) fn weights16(&mut self, weights: &[i8], window: &Window) -> u32 {
        let packed = match self.row.int16_block() {
            2 => pack::pairs(weights, window),
            block => pack::int16_blocks(weights, window, block),
        };
        self.program.constant(&packed)
    }
}
