//! Softmax along the last dimension.

use et_cortex_m::Softmax;
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Argument, Links, Node};

use super::{Lowering, Order, cut};
use etbuild_backend::int8::pattern::{self, Check, Epilogue, int8_operand, no, quantized};

/// The exponential of 0 in integers: sums of 2^9 columns fit in 32 bits.
const ONE: f64 = 4_194_304.0;

/// Accepts softmax whose result has steps of the inverse of an integer.
pub fn check(links: &Links<'_>, node: &Node) -> Check {
    int8_operand(links, node)?;
    let epilogue = quantized(links, node)?;
    let output = pattern::output(node)?;
    check_dimension(links, node)?;
    let scale = epilogue.quantized.map_or(0.0, |(_, qparams)| qparams.scale);
    if epilogue.last != output || steps(scale).is_none() {
        return Err(no(RefusalKind::Quantization, "the result has no steps of the inverse of an integer"));
    }
    Ok(())
}

/// Accepts the last dimension.
pub(super) fn check_dimension(links: &Links<'_>, node: &Node) -> Check {
    let rank = links.graph.spec(pattern::output(node)?).rank() as i64;
    let is_last = matches!(node.arguments.get(1), Some(Argument::Int(dim)) if *dim == -1 || *dim == rank - 1);
    let reason = "softmax runs along another dimension than the last";
    is_last.then_some(()).ok_or_else(|| no(RefusalKind::Argument, reason))
}

/// The inverse of a scale, if that is an integer.
fn steps(scale: f64) -> Option<u32> {
    let inverse = 1.0 / scale;
    let is_whole = inverse.is_finite() && (inverse - inverse.round()).abs() < 1e-3 && inverse < 65_536.0;
    is_whole.then(|| inverse.round() as u32)
}

impl Lowering<'_> {
    /// Softmax.
    pub(super) fn softmax(&mut self, node: &Node, epilogue: &Epilogue) -> Result<(), Refusal> {
        let operand = int8_operand(self.links, node)?;
        let (to, qparams) = epilogue.quantized.ok_or_else(cut)?;
        let columns = self.links.graph.spec(to).sizes.last().map_or(1, |size| size.unsigned_abs());
        let rows = self.links.graph.spec(to).numel() as u32 / columns.max(1);
        let exponentials: Vec<u8> = (0..256)
            .map(|distance| ((-f64::from(distance) * operand.qparams.scale).exp() * ONE).round() as u32)
            .flat_map(u32::to_le_bytes)
            .collect();
        let input = self.ordered(operand.id, Order::RowMajor)?.place();
        let output = self.create(to, Order::RowMajor).place();
        let exponentials = self.program.constant(&exponentials);
        let steps = steps(qparams.scale).ok_or_else(cut)?;
        let step = Softmax { input, output, rows, columns, exponentials, steps, zero: qparams.zero };
        self.program.emit(step, self.name(to));
        Ok(())
    }
}
