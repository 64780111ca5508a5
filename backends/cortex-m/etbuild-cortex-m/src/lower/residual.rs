//! Sums with the result of a convolution, in the memory of the other operand where nothing reads that later.

use et_cortex_m::requantize::FRACTION;
use et_cortex_m::{Bounds, Convolution, ConvolutionAdd, ConvolutionResidual, Multiplier, Place, Residual};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::ValueId;

use super::sum::sum;
use super::{Lowering, Order, Stored};
use crate::program::{Buffer, Storage};
use etbuild_backend::int8::pattern::{self, Operand, QParams, no};

/// The sign and the memory of an operand of a sum.
#[derive(Clone, Copy)]
pub struct Addend {
    pub operand: Operand,
    pub sign: f64,
    pub buffer: Buffer,
}

/// The int8 result of a sum.
#[derive(Clone, Copy)]
pub struct Target {
    pub id: ValueId,
    pub order: Order,
    pub qparams: QParams,
    pub bounds: Bounds,
}

impl Lowering<'_> {
    /// Adds a tensor to the accumulators of a convolution, in steps of the result.
    pub(super) fn add_to_accumulators(
        &mut self,
        convolution: Convolution,
        other: Operand,
        to: Target,
    ) -> Result<(), Refusal> {
        let scale = Multiplier::of(other.qparams.scale / to.qparams.scale * f64::from(1 << FRACTION));
        if scale.shift > 20 {
            return Err(no(RefusalKind::Quantization, "the scales of a sum differ too much"));
        }
        let buffer = self.ordered(other.id, to.order)?;
        let residual = Residual { input: buffer.place(), zero: other.qparams.zero, scale };
        let output = self.sum_output((other.id, buffer), convolution.input, to).place();
        let convolution = Convolution { output, direct: 0, ..convolution };
        self.program.emit(ConvolutionResidual { convolution, residual }, self.name(to.id));
        Ok(())
    }

    /// Makes a sum part of the convolution before, if the last instruction computes one of the addends for the sum alone.
    pub(super) fn add_to_convolution(&mut self, addends: [Addend; 2], to: Target) -> Result<bool, Refusal> {
        for [product, other] in [addends, [addends[1], addends[0]]] {
            let Some(convolution) = self.program.last_convolution(product.buffer) else { continue };
            if product.buffer == other.buffer || !self.is_last_use(product.operand.id, product.buffer, to.id) {
                continue;
            }
            let operands = [product, other];
            let rule =
                sum(operands.map(|one| one.operand.qparams), operands.map(|one| one.sign), (to.qparams, to.bounds))?;
            self.program.remove_last();
            let output = self.sum_output((other.operand.id, other.buffer), convolution.input, to).place();
            let results = Storage::Scratch(self.row.layout().lanes() * convolution.window.out_channels as usize);
            let step = ConvolutionAdd {
                convolution: Convolution { output, ..convolution },
                results: self.program.buffer(results).place(),
                other: other.buffer.place(),
                sum: rule,
            };
            self.program.emit(step, self.name(to.id));
            return Ok(true);
        }
        Ok(false)
    }

    /// The memory of a sum: that of an operand, unless the convolution reads its own input there while it writes the sum.
    fn sum_output(&mut self, (id, buffer): (ValueId, Buffer), input: Place, to: Target) -> Buffer {
        if buffer.place() == input || self.links.graph.outputs.contains(&to.id) || !self.is_last_use(id, buffer, to.id)
        {
            return self.create(to.id, to.order);
        }
        self.alias(to.id, Stored { buffer, order: to.order });
        buffer
    }

    /// Whether the scratch of a tensor is free as soon as `to` is computed: no other tensor lies there, and nothing reads the tensor
    /// later.
    fn is_last_use(&self, id: ValueId, buffer: Buffer, to: ValueId) -> bool {
        let values = self.links.graph.values_with_ids();
        let owners = values.filter(|(id, _)| self.stored(*id).is_ok_and(|stored| stored.buffer == buffer)).count();
        self.program.is_scratch(buffer) && owners == 1 && self.links.maker_position(to) >= Some(self.last_use(id))
    }

    /// The position of the last quantize node that a tensor reaches through float tensors; the greatest number for a result of the
    /// call.
    fn last_use(&self, id: ValueId) -> usize {
        if self.links.graph.outputs.contains(&id) {
            return usize::MAX;
        }
        let nodes = self.links.graph.nodes.iter().enumerate();
        let readers = nodes.filter(|(_, node)| node.uses().any(|used| used == id));
        let last = readers.map(|(position, node)| match pattern::quantizes(node) {
            Some(_) => position,
            None => node.outputs.iter().map(|output| self.last_use(*output)).max().unwrap_or(0),
        });
        last.max().unwrap_or(0)
    }
}
