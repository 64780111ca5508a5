//! Slices: copies of rows of a wider tensor.

use et_cortex_m::{CopyRows, Place};
use etbuild_backend::int8::pattern::{Check, Epilogue, int8_operand, moves, no};
use etbuild_backend::{Call, Refusal, RefusalKind, dim};
use etbuild_ir::{Links, Node};

use super::{Lowering, cut};

/// Accepts slices without a step.
pub fn check(links: &Links<'_>, node: &Node) -> Check {
    moves(links, node)?;
    Slice::of(links, node).map(|_| ())
}

/// A part of a dimension.
struct Slice {
    dimension: usize,
    start: usize,
    /// The elements of the dimension in the operand.
    size: usize,
}

impl Slice {
    fn of(links: &Links<'_>, node: &Node) -> Result<Self, Refusal> {
        let call = Call::new(links, node);
        let sizes = call.sizes(call.value(0)?);
        let dimension = dim(call.int(1)?.unwrap_or(0), sizes.len())?;
        let size = sizes.get(dimension).copied().unwrap_or_default();
        if call.int(4)?.unwrap_or(1) != 1 {
            return Err(no(RefusalKind::Argument, "the slice has a step"));
        }
        let (start, most) = (call.int(2)?.unwrap_or(0), size as i64);
        let from_end = if start < 0 { start.saturating_add(most) } else { start };
        Ok(Self { dimension, start: from_end.clamp(0, most) as usize, size })
    }
}

impl Lowering<'_> {
    /// A slice of an int8 or int16 tensor.
    pub(super) fn slice(&mut self, node: &Node, epilogue: &Epilogue) -> Result<(), Refusal> {
        let (operand, slice) = (int8_operand(self.links, node)?, Slice::of(self.links, node)?);
        let (to, _) = epilogue.quantized.ok_or_else(cut)?;
        let (order, axis) = self.axis(to, slice.dimension);
        let input = self.ordered(operand.id, order)?.place();
        let output = self.create(to, order).place();
        let [rows, bytes] = self.rows(to, order, axis);
        let [_, pitch] = self.rows(operand.id, order, axis);
        let before = pitch / slice.size.max(1) as u32 * slice.start as u32;
        let input = Place { offset: input.offset + before, ..input };
        let step = CopyRows { input, output, rows, bytes, input_pitch: pitch, output_pitch: bytes };
        self.program.emit(step, self.name(to));
        Ok(())
    }
}
