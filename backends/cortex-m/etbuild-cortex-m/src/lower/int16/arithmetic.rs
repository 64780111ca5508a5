//! Sums and products of two tensors.

use et_cortex_m::requantize::SUM_FRACTION_16;
use et_cortex_m::{Add16, Bounds, Multiplier, Multiply16, Sum};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Links, Node};

use super::super::Order;
use super::super::arithmetic::{check_operands, sides};
use super::{Lowering, cut, limits};
use crate::program::Buffer;
use etbuild_backend::int8::pattern::{Check, Epilogue, Operand, QParams, no, operand};

/// Accepts sums, differences and products of two int16 tensors.
pub fn check(links: &Links<'_>, node: &Node, epilogue: &Epilogue) -> Check {
    check_operands(links, node)?;
    let [left, right] = sides(node)?.map(|id| operand(links, id));
    let (left, right) = (left.ok_or_else(cut)?.qparams.scale, right.ok_or_else(cut)?.qparams.scale);
    let (_, result) = epilogue.quantized.ok_or_else(cut)?;
    match node.operator.name() {
        "mul" => product(left * right, result).map(|_| ()),
        _ => total([left, right], result).map(|_| ()),
    }
}

/// The factor of a product, which has 30 bits.
fn product(scale: f64, result: QParams) -> Result<Multiplier, Refusal> {
    let factor = Multiplier::of(scale / result.scale);
    let fits = factor.shift <= 0;
    fits.then_some(factor)
        .ok_or_else(|| no(RefusalKind::Quantization, "the scales of operands and result differ too much"))
}

/// The factors of the operands, with their signs, and of the sum.
fn total(scales: [f64; 2], result: QParams) -> Result<[Multiplier; 3], Refusal> {
    let twice = 2.0 * scales[0].abs().max(scales[1].abs());
    let factor = Multiplier::of(twice / (f64::from(1 << SUM_FRACTION_16) * result.scale));
    let [left, right] = scales.map(|scale| Multiplier::of(scale / twice));
    let fits = factor.shift <= 0;
    fits.then_some([left, right, factor])
        .ok_or_else(|| no(RefusalKind::Quantization, "the scales of operands and result differ too much"))
}

impl Lowering<'_> {
    /// A sum, difference or product.
    pub(super) fn arithmetic16(&mut self, node: &Node, epilogue: &Epilogue) -> Result<(), Refusal> {
        let (to, qparams) = epilogue.quantized.ok_or_else(cut)?;
        let [Some(left), Some(right)] = sides(node)?.map(|id| operand(self.links, id)) else { return Err(cut()) };
        let sign = if node.operator.name() == "sub" { -1.0 } else { 1.0 };
        let mut operands = [(left, left.qparams.scale), (right, sign * right.qparams.scale)];
        let numel = |operand: &Operand| self.links.graph.spec(operand.id).numel();
        operands.sort_by_key(|(operand, _)| std::cmp::Reverse(numel(operand)));
        let [count, period] = operands.map(|(operand, _)| numel(&operand) as u32);
        let order = if period == count { self.stored(operands[0].0.id)?.order } else { Order::Nhwc };
        let [left, right] = [self.ordered(operands[0].0.id, order)?, self.ordered(operands[1].0.id, order)?];
        let [left, right, output] = [left, right, self.create(to, order)].map(Buffer::place);
        let (limits, scales) = (limits(epilogue, qparams), operands.map(|(_, scale)| scale));
        if node.operator.name() == "mul" {
            let scale = product(scales[0] * scales[1], qparams)?;
            self.program.emit(Multiply16 { left, right, output, count, period, scale, limits }, self.name(to));
            return Ok(());
        }
        let [left_scale, right_scale, scale] = total(scales, qparams)?;
        let bounds = Bounds { zero: 0, least: limits.least, most: limits.most };
        let sum = Sum { left_zero: 0, right_zero: 0, left_scale, right_scale, scale, bounds };
        self.program.emit(Add16 { left, right, output, count, period, sum }, self.name(to));
        Ok(())
    }
}
