//! Softmax along the last dimension.

use et_cortex_m::{Multiplier, Softmax16};
use etbuild_backend::int8::sampled;
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Links, Node};

use super::super::Order;
use super::super::row::check_dimension;
use super::{Lowering, cut};
use etbuild_backend::int8::pattern::{self, Check, Epilogue, QParams, int8_operand, no};

/// The integer of 1.
const ONE: f64 = 32_768.0;

/// Numbers below have no exponential: -10 is -65535 steps.
const STEP: f64 = 10.0 / 65_535.0;

/// Accepts softmax of rows whose result has steps of 2^-15.
pub fn check(links: &Links<'_>, node: &Node, epilogue: &Epilogue) -> Check {
    check_dimension(links, node)?;
    let (to, result) = epilogue.quantized.ok_or_else(cut)?;
    let columns = links.graph.spec(to).sizes.last().map_or(1, |size| size.unsigned_abs());
    if epilogue.last != pattern::output(node)? || result.scale != 1.0 / ONE {
        return Err(no(RefusalKind::Quantization, "the result has no steps of 2^-15"));
    }
    if columns >= 1 << 16 {
        return Err(no(RefusalKind::Shape, "a row has 2^16 elements or more"));
    }
    scale(int8_operand(links, node)?.qparams).map(|_| ())
}

/// The scale of the input in steps of the table.
fn scale(input: QParams) -> Result<Multiplier, Refusal> {
    let scale = Multiplier::of(input.scale / STEP);
    // A distance has 17 bits.
    let fits = scale.shift <= 12;
    fits.then_some(scale).ok_or_else(|| no(RefusalKind::Quantization, "the scale of the operand is too large"))
}

impl Lowering<'_> {
    /// Softmax.
    pub(super) fn softmax16(&mut self, node: &Node, epilogue: &Epilogue) -> Result<(), Refusal> {
        let operand = int8_operand(self.links, node)?;
        let (to, _) = epilogue.quantized.ok_or_else(cut)?;
        let columns = self.links.graph.spec(to).sizes.last().map_or(1, |size| size.unsigned_abs());
        let rows = self.links.graph.spec(to).numel() as u32 / columns.max(1);
        // The ends and middles of 512 lines.
        let part = |half: usize| half as f64 / 1024.0;
        let exponentials = self.entries(&sampled(|half| (10.0 * (part(half) - 1.0)).exp() * ONE));
        let inverses = self.entries(&sampled(|half| ONE / (1.0 + part(half))));
        let input = self.ordered(operand.id, Order::RowMajor)?.place();
        let output = self.create(to, Order::RowMajor).place();
        let scale = scale(operand.qparams)?;
        let step = Softmax16 { input, output, rows, columns, scale, exponentials, inverses };
        self.program.emit(step, self.name(to));
        Ok(())
    }

    /// The entries of a table as constants.
    pub(in super::super) fn entries(&mut self, table: &[i16]) -> u32 {
        self.program.constant(&table.iter().flat_map(|entry| entry.to_le_bytes()).collect::<Vec<_>>())
    }
}
