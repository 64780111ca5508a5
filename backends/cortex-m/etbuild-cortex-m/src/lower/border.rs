//! The border of the partition, and changes of order.

use et_cortex_m::{Dequantize, Dequantize16, Instruction, Place, Quantize, Quantize16, Transpose, Transpose16};
use etbuild_backend::Refusal;
use etbuild_ir::{Node, ValueId};

use super::{Lowering, Order, Stored, cut};
use crate::program::{Buffer, Storage};
use etbuild_backend::int8::pattern::{self, Operand, QParams, Width};

impl Lowering<'_> {
    /// Quantizes an input of the call. Images become NHWC.
    pub(super) fn quantize(&mut self, input: Buffer, to: ValueId, qparams: QParams) -> Result<(), Refusal> {
        let order = if self.links.graph.spec(to).rank() == 4 { Order::Nhwc } else { Order::RowMajor };
        let output = self.create(to, order);
        let [images, channels, pixels] = self.extent(to, order);
        let (input, output, inverse) = (input.place(), output.place(), (1.0 / qparams.scale) as f32);
        let pitch = pixels;
        let name = self.name(to);
        match qparams.width {
            Width::Int8 => {
                let zero = qparams.zero;
                self.program.emit(Quantize { input, output, images, channels, pixels, pitch, inverse, zero }, name);
            }
            Width::Int16 => {
                self.program.emit(Quantize16 { input, output, images, channels, pixels, pitch, inverse }, name);
            }
        }
        Ok(())
    }

    /// Dequantizes an int8 tensor to an output of the call.
    pub(super) fn dequantize(&mut self, operand: Operand, to: ValueId, output: Buffer) -> Result<(), Refusal> {
        let Stored { buffer, order } = self.stored(operand.id)?;
        let [images, channels, pixels] = self.extent(to, order);
        let (input, output, scale) = (buffer.place(), output.place(), operand.qparams.scale as f32);
        let name = self.name(to);
        match operand.qparams.width {
            Width::Int8 => {
                let zero = operand.qparams.zero;
                self.program.emit(Dequantize { input, output, images, channels, pixels, scale, zero }, name);
            }
            Width::Int16 => {
                self.program.emit(Dequantize16 { input, output, images, channels, pixels, scale }, name);
            }
        }
        Ok(())
    }

    /// Copies an int8 tensor to an output of the call, unless it lies there.
    pub(super) fn copy_out(&mut self, id: ValueId, output: Buffer) -> Result<(), Refusal> {
        let Stored { buffer, order } = self.stored(id)?;
        if buffer != output {
            let [images, channels, pixels] = self.extent(id, order);
            let (input, output) = (buffer.place(), output.place());
            self.transpose(id, [input, output], [images, pixels, channels]);
        }
        Ok(())
    }

    /// The tensor in an order; copies the tensor unless it has the order.
    pub(super) fn ordered(&mut self, id: ValueId, order: Order) -> Result<Buffer, Refusal> {
        let stored = self.stored(id)?;
        if stored.order == order || self.is_ordered(id) {
            return Ok(stored.buffer);
        }
        let output = self.program.buffer(Storage::Scratch(self.links.graph.spec(id).nbytes()));
        let [images, channels, pixels] = self.image(id).map(|size| size as u32);
        let (rows, columns) = if order == Order::Nhwc { (channels, pixels) } else { (pixels, channels) };
        self.transpose(id, [stored.buffer.place(), output.place()], [images, rows, columns]);
        // The first reader decides: later readers of the same order find the copy.
        self.alias(id, Stored { buffer: output, order });
        Ok(output)
    }

    /// Swaps rows and columns.
    fn transpose(&mut self, id: ValueId, [input, output]: [Place; 2], [images, rows, columns]: [u32; 3]) {
        let pitch = columns;
        let step: Instruction = match self.width(id) {
            Width::Int8 => Transpose { input, output, images, rows, columns, pitch }.into(),
            Width::Int16 => Transpose16 { input, output, images, rows, columns, pitch }.into(),
        };
        self.program.emit(step, self.name(id));
    }

    /// A view: the same elements in row-major order.
    pub(super) fn view(&mut self, node: &Node, to: ValueId) -> Result<(), Refusal> {
        let operand = pattern::first(node).and_then(|id| pattern::operand(self.links, id)).ok_or_else(cut)?;
        let buffer = self.ordered(operand.id, Order::RowMajor)?;
        self.alias(to, Stored { buffer, order: Order::RowMajor });
        Ok(())
    }

    /// Images, channels and pixels as far as the order of a tensor distinguishes them.
    fn extent(&self, id: ValueId, order: Order) -> [u32; 3] {
        match order {
            Order::Nhwc => self.image(id).map(|size| size as u32),
            Order::RowMajor => [1, 1, self.links.graph.spec(id).numel() as u32],
        }
    }
}
