//! Sums and products of two tensors.

use et_cortex_m::{Add, Multiplier, Multiply};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Argument, Links, Node, ValueId};

use super::residual::{Addend, Target};
use super::sum::sum;
use super::{Lowering, Order, bounds, cut};
use crate::program::Buffer;
use etbuild_backend::int8::pattern::{self, Check, Epilogue, Operand, no, operand, quantized};

/// Accepts sums, differences and products of two int8 tensors, and sums of a product's result and an int8 tensor.
pub fn check(links: &Links<'_>, node: &Node) -> Check {
    if let Some(product) = fused(links, node) {
        let epilogue = pattern::epilogue(links, product, pattern::output(product)?);
        return match epilogue.residual {
            Some(_) => super::product::check(links, product),
            None => Err(no(RefusalKind::Quantization, "the sum is not quantized to int8")),
        };
    }
    check_operands(links, node)?;
    quantized(links, node).map(|_| ())
}

/// Accepts two quantized operands of equal shapes, or a number for each channel.
pub(super) fn check_operands(links: &Links<'_>, node: &Node) -> Check {
    let [left, right] = sides(node)?;
    let [Some(_), Some(_)] = [left, right].map(|id| operand(links, id)) else {
        return Err(no(RefusalKind::Quantization, "an operand is not quantized to int8"));
    };
    let spec = |id: ValueId| &links.graph.spec(id).sizes;
    let output = pattern::output(node)?;
    if spec(left) != spec(output) && spec(right) != spec(output) {
        return Err(no(RefusalKind::Shape, "both operands are broadcast"));
    }
    let other = if spec(left) == spec(output) { right } else { left };
    let is_same = spec(other) == spec(output);
    if !is_same && !is_channels(spec(other), spec(output)) {
        return Err(no(RefusalKind::Shape, "an operand is broadcast along other dimensions than pixels"));
    }
    Ok(())
}

/// The convolution or linear layer whose result the node adds to.
fn fused<'g>(links: &Links<'g>, node: &Node) -> Option<&'g Node> {
    let sides = pattern::addends(node)?;
    let mut products = sides.into_iter().filter(|side| links.read_count(*side) == 1);
    let product = products.find(|side| links.maker(*side).is_some_and(pattern::is_product))?;
    pattern::residual(links, node, product)?;
    links.maker(product)
}

/// Whether an operand has a number for each channel of one image.
fn is_channels(sizes: &[i32], of: &[i32]) -> bool {
    matches!((sizes, of), ([1, channels, 1, 1], [1, count, ..]) if channels == count && of.len() == 4)
}

pub(super) fn sides(node: &Node) -> Result<[ValueId; 2], Refusal> {
    match (pattern::first(node), pattern::tensor(node, 1), node.arguments.get(2)) {
        (Some(left), Some(right), None | Some(Argument::Int(1))) => Ok([left, right]),
        (Some(left), Some(right), Some(Argument::Float(factor))) if *factor == 1.0 => Ok([left, right]),
        _ => Err(no(RefusalKind::Argument, "an operand is a scalar or has a factor")),
    }
}

impl Lowering<'_> {
    /// A sum, difference or product.
    pub(super) fn arithmetic(&mut self, node: &Node, epilogue: &Epilogue) -> Result<(), Refusal> {
        let (to, qparams) = epilogue.quantized.ok_or_else(cut)?;
        let [left, right] = sides(node)?;
        let [Some(mut left), Some(mut right)] = [left, right].map(|id| operand(self.links, id)) else {
            return Err(cut());
        };
        let (mut left_sign, mut right_sign) = (1.0, if node.operator.name() == "sub" { -1.0 } else { 1.0 });
        let numel = |operand: &Operand| self.links.graph.spec(operand.id).numel();
        if numel(&left) < numel(&right) {
            (left, right, left_sign, right_sign) = (right, left, right_sign, left_sign);
        }
        let (count, period) = (numel(&left) as u32, numel(&right) as u32);
        let order = if period == count { self.stored(left.id)?.order } else { Order::Nhwc };
        let buffers = [self.ordered(left.id, order)?, self.ordered(right.id, order)?];
        let bounds = bounds(epilogue, qparams);
        if node.operator.name() != "mul" && period == count {
            let addend = |operand, sign, buffer| Addend { operand, sign, buffer };
            let addends = [addend(left, left_sign, buffers[0]), addend(right, right_sign, buffers[1])];
            if self.add_to_convolution(addends, Target { id: to, order, qparams, bounds })? {
                return Ok(());
            }
        }
        let [left_place, right_place] = buffers.map(Buffer::place);
        let (left_zero, right_zero) = (left.qparams.zero, right.qparams.zero);
        let output = self.create(to, order).place();
        if node.operator.name() == "mul" {
            let scale = factor(left.qparams.scale * right.qparams.scale / qparams.scale)?;
            let (left, right) = (left_place, right_place);
            let step = Multiply { left, right, output, count, period, left_zero, right_zero, scale, bounds };
            self.program.emit(step, self.name(to));
            return Ok(());
        }
        let sum = sum([left.qparams, right.qparams], [left_sign, right_sign], (qparams, bounds))?;
        let (left, right) = (left_place, right_place);
        let step = Add { left, right, output, count, period, sum };
        self.program.emit(step, self.name(to));
        Ok(())
    }
}

/// A factor of a difference of integers, or of a product of two.
pub(super) fn factor(number: f64) -> Result<Multiplier, Refusal> {
    let factor = Multiplier::of(number);
    if factor.shift > 20 {
        return Err(no(RefusalKind::Quantization, "the scales of operands and result differ too much"));
    }
    Ok(factor)
}
