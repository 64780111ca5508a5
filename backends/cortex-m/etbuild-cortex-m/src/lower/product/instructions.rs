//! The instructions of convolutions and fully connected layers.

use et_cortex_m::requantize::FRACTION;
use et_cortex_m::row::{CHANNELS, DEPTHWISE_CHANNELS, Layout};
use et_cortex_m::{
    Bounds, Channel, Convolution, Convolution4, Convolution4ToFloat, ConvolutionToFloat, Depthwise, Place, Window,
};
use etbuild_backend::int8::pattern::{Epilogue, QParams, no};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Node, ValueId};

use super::super::residual::Target;
use super::super::{Lowering, Order, bounds, cut};
use super::Product;
use crate::pack;
use crate::program::{Buffer, Storage};

impl Lowering<'_> {
    /// A product whose result is quantized.
    pub(in super::super) fn product(&mut self, node: &Node, epilogue: &Epilogue) -> Result<(), Refusal> {
        let (product, (to, qparams)) = (Product::of(self.links, node)?, epilogue.quantized.ok_or_else(cut)?);
        let (input, order) = self.product_input(&product, node)?;
        let bounds = bounds(epilogue, qparams);
        if let Some(other) = epilogue.residual {
            // A sum with the accumulators has int8 weights of one group only.
            let (weights, table) = (product.dense(), product.table(qparams, FRACTION)?);
            let step = self.dense((&product, &product.window), (&weights, &table), (input.place(), bounds), false)?;
            return self.add_to_accumulators(step, other, Target { id: to, order, qparams, bounds });
        }
        if product.is_depthwise() {
            return self.depthwise((&product, input), epilogue, (to, qparams));
        }
        let (weights, table) = (product.integers(), product.table(qparams, 0)?);
        let output = self.create(to, order);
        self.in_groups(&product, (input, output), to, |lowering, part| {
            let count = product.window.out_channels;
            let constants = (part.of(&weights, count), part.of(&table, count));
            let step = lowering.dense((&product, &part.window), constants, (part.input, bounds), product.is_int4)?;
            let convolution = Convolution { output: part.output, ..step };
            if product.is_int4 {
                let panel = lowering.panel(&part.window)?;
                lowering.program.emit(Convolution4 { convolution, panel }, lowering.name(to));
            } else {
                lowering.program.emit(convolution, lowering.name(to));
            }
            Ok(())
        })
    }

    /// A dense convolution, whose output follows later.
    fn dense(
        &mut self,
        (product, window): (&Product, &Window),
        (weights, table): (&[i8], &[Channel]),
        (input, bounds): (Place, Bounds),
        is_int4: bool,
    ) -> Result<Convolution, Refusal> {
        // The layout of blocks has a way for the channels behind the last whole panel.
        let multiple = if self.row.layout() == Layout::Pairs { CHANNELS } else { 1 };
        Ok(Convolution {
            input,
            tile: self.tile(window)?,
            window: *window,
            input_zero: product.operand.qparams.zero,
            weights: self.convolution_weights(weights, window, is_int4),
            channels: self.program.records(table),
            bounds,
            direct: u32::from(product.is_direct((table, multiple), bounds)),
            ..Convolution::default()
        })
    }

    fn depthwise(
        &mut self,
        (product, input): (&Product, Buffer),
        epilogue: &Epilogue,
        (to, qparams): (ValueId, QParams),
    ) -> Result<(), Refusal> {
        let window = product.window;
        let taps = (window.kernel_height as usize * window.kernel_width as usize).next_multiple_of(2);
        let (table, bounds) = (product.table(qparams, 0)?, bounds(epilogue, qparams));
        // Vectors of channels sum the products of two taps in 16 bits.
        let fits = self.row.depthwise_group() == DEPTHWISE_CHANNELS || product.has_small_pairs();
        let step = Depthwise {
            input: input.place(),
            output: self.create(to, Order::Nhwc).place(),
            zeros: self.program.buffer(Storage::Scratch(window.in_channels as usize)).place(),
            offsets: self.program.buffer(Storage::Scratch(2 * taps * size_of::<u32>())).place(),
            window: product.window,
            weights: self.depthwise_weights(&product.integers(), &product.window),
            channels: self.program.records(&table),
            input_zero: product.operand.qparams.zero,
            bounds,
            direct: u32::from(product.is_direct((&table, DEPTHWISE_CHANNELS), bounds) && fits),
        };
        self.program.emit(step, self.name(to));
        Ok(())
    }

    /// A product whose result leaves the partition as float32.
    pub(in super::super) fn product_to_float(
        &mut self,
        node: &Node,
        epilogue: &Epilogue,
        output: Buffer,
    ) -> Result<(), Refusal> {
        let product = Product::of(self.links, node)?;
        let (input, _) = self.product_input(&product, node)?;
        let tile = self.tile(&product.window)?;
        let channels = product.channels().into_iter().enumerate();
        let words =
            channels.flat_map(|(channel, (bias, _))| [bias as i32 as u32, (product.scale(channel) as f32).to_bits()]);
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        let weights = product.dense();
        let convolution = ConvolutionToFloat {
            input: input.place(),
            output: output.place(),
            tile,
            window: product.window,
            input_zero: product.operand.qparams.zero,
            weights: self.convolution_weights(&weights, &product.window, product.is_int4),
            channels: self.program.constant(&bytes),
            least: epilogue.least as f32,
            most: epilogue.most as f32,
        };
        if product.is_int4 {
            let panel = self.panel(&product.window)?;
            self.program.emit(Convolution4ToFloat { convolution, panel }, self.name(epilogue.last));
        } else {
            self.program.emit(convolution, self.name(epilogue.last));
        }
        Ok(())
    }

    /// The input of a product in the order of its kernel, and the order of the result.
    pub(in super::super) fn product_input(
        &mut self,
        product: &Product,
        node: &Node,
    ) -> Result<(Buffer, Order), Refusal> {
        let order = if node.operator.name() == "linear" { Order::RowMajor } else { Order::Nhwc };
        let input = self.ordered(product.operand.id, order)?;
        Ok((self.repeated(product, input), order))
    }

    /// Scratch for the columns of a tile; none where the image has them.
    fn tile(&mut self, window: &Window) -> Result<Place, Refusal> {
        let bytes = window.tile_bytes(self.row.layout());
        match bytes.map_err(|_| no(RefusalKind::Shape, "the convolution is too large"))? {
            0 => Ok(Place::default()),
            bytes => Ok(self.program.buffer(Storage::Scratch(bytes)).place()),
        }
    }

    /// Scratch for the int8 weights of a panel; none where an inner loop unpacks int4.
    fn panel(&mut self, window: &Window) -> Result<Place, Refusal> {
        let bytes = window.int4_scratch_bytes(self.row.layout());
        match bytes.map_err(|_| no(RefusalKind::Shape, "the convolution is too large"))? {
            0 => Ok(Place::default()),
            bytes => Ok(self.program.buffer(Storage::Scratch(bytes)).place()),
        }
    }

    /// The weights of a convolution in the layout of the row.
    fn convolution_weights(&mut self, weights: &[i8], window: &Window, is_int4: bool) -> u32 {
        let packed = match (self.row.layout(), is_int4) {
            (Layout::Pairs, false) => pack::convolution(weights, window),
            (Layout::Blocks(block), false) => pack::blocks(weights, window, block),
            (Layout::Pairs, true) => pack::int4_pairs(weights, window),
            (Layout::Blocks(block), true) => pack::int4_blocks(weights, window, block),
        };
        self.program.constant(&packed)
    }

    /// The weights of a depthwise convolution in the layout of the row.
    fn depthwise_weights(&mut self, weights: &[i8], window: &Window) -> u32 {
        let packed = match self.row.depthwise_group() {
            DEPTHWISE_CHANNELS => pack::depthwise(weights, window),
            group => pack::depthwise_groups(weights, window, group),
        };
        self.program.constant(&packed)
    }
}
