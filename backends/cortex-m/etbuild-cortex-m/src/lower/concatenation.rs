//! Tensors behind each other.

use et_cortex_m::{CopyRows, Place, Table};
use etbuild_backend::int8::pattern::{Check, Epilogue, Operand, QParams, Width, no, quantized};
use etbuild_backend::int8::{Concatenation, NHWC, table};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Links, Node, ValueId};

use super::{Lowering, Order, cut};
use crate::program::Storage;

/// Accepts concatenations of int8 tensors, and of int16 tensors with the qparams of the result.
pub fn check(links: &Links<'_>, node: &Node) -> Check {
    let Concatenation { operands, .. } = Concatenation::of(links, node)?;
    let epilogue = quantized(links, node)?;
    if epilogue.least.is_finite() || epilogue.most.is_finite() {
        return Err(no(RefusalKind::Operator, "a clamp behind a concatenation does not fuse"));
    }
    let (_, qparams) = epilogue.quantized.ok_or_else(cut)?;
    let fits = |operand: &Operand| operand.qparams == qparams || is_int8([operand.qparams, qparams]);
    let unfit = || no(RefusalKind::Quantization, "an operand has other integers than the result");
    operands.iter().all(fits).then_some(()).ok_or_else(unfit)
}

fn is_int8(qparams: [QParams; 2]) -> bool {
    qparams.iter().all(|qparams| qparams.width == Width::Int8)
}

impl Lowering<'_> {
    /// A concatenation: a copy of each operand.
    pub(super) fn concatenation(&mut self, node: &Node, epilogue: &Epilogue) -> Result<(), Refusal> {
        let Concatenation { operands, dimension } = Concatenation::of(self.links, node)?;
        let (to, qparams) = epilogue.quantized.ok_or_else(cut)?;
        let (order, axis) = self.axis(to, dimension);
        let output = self.create(to, order);
        let [rows, pitch] = self.rows(to, order, axis);
        let mut offset = 0;
        for operand in operands {
            let input = self.ordered(operand.id, order)?.place();
            let input = self.alike(input, operand, qparams)?;
            let [_, bytes] = self.rows(operand.id, order, axis);
            let output = Place { offset, ..output.place() };
            let (input_pitch, output_pitch) = (bytes, pitch);
            self.program.emit(CopyRows { input, output, rows, bytes, input_pitch, output_pitch }, self.name(to));
            offset += bytes;
        }
        Ok(())
    }

    /// The order of a tensor of copies, and the axis of a dimension in it.
    pub(super) fn axis(&self, id: ValueId, dimension: usize) -> (Order, usize) {
        match self.links.graph.spec(id).rank() {
            4 => (Order::Nhwc, NHWC[dimension]),
            _ => (Order::RowMajor, dimension),
        }
    }

    /// The number of rows that end with an axis, and the bytes of each.
    pub(super) fn rows(&self, id: ValueId, order: Order, axis: usize) -> [u32; 2] {
        let spec = self.links.graph.spec(id);
        let mut sizes: Vec<u32> = spec.sizes.iter().map(|size| size.unsigned_abs()).collect();
        if order == Order::Nhwc {
            sizes[1..].rotate_left(1);
        }
        let (outer, inner) = sizes.split_at(axis);
        [outer.iter().product(), inner.iter().product::<u32>() * spec.scalar_type.size() as u32]
    }

    /// The integers of an operand with the qparams of the result.
    fn alike(&mut self, input: Place, operand: Operand, qparams: QParams) -> Result<Place, Refusal> {
        if operand.qparams == qparams {
            return Ok(input);
        }
        let count = self.links.graph.spec(operand.id).numel() as u32;
        let output = self.program.buffer(Storage::Scratch(count as usize)).place();
        let table = self.program.constant(&table(&[], operand.qparams, qparams)?);
        self.program.emit(Table { input, output, count, table }, self.name(operand.id));
        Ok(output)
    }
}
