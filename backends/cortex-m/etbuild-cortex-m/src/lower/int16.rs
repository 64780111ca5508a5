//! Operators with int16 activations and int8 weights, after TensorFlow Lite's 16x8.

mod arithmetic;
mod pool;
mod product;
mod softmax;

use et_cortex_m::{Limits, Multiplier};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Links, Node};

use super::{Lowering, cut};
use etbuild_backend::int8::pattern::{self, Check, Epilogue, QParams, no, quantized};

/// Accepts operators whose operands and results are int16.
pub fn check(links: &Links<'_>, node: &Node) -> Check {
    if pattern::is_product(node) {
        return product::check(links, node, &pattern::epilogue(links, node, pattern::output(node)?));
    }
    let epilogue = quantized(links, node)?;
    match node.operator.name() {
        "add" | "sub" | "mul" => arithmetic::check(links, node, &epilogue),
        "mean" | "avg_pool2d" | "max_pool2d_with_indices" => pool::check(links, node, &epilogue),
        "_softmax" => softmax::check(links, node, &epilogue),
        _ => Err(no(RefusalKind::Operator, "there is no int16 kernel for the operator")),
    }
}

impl Lowering<'_> {
    /// Lowers an operator with an int16 result.
    pub(super) fn int16(&mut self, head: &Node, epilogue: &Epilogue) -> Result<(), Refusal> {
        match head.operator.name() {
            "convolution" | "linear" => self.product16(head, epilogue),
            "add" | "sub" | "mul" => self.arithmetic16(head, epilogue),
            "mean" | "avg_pool2d" | "max_pool2d_with_indices" => self.pool16(head, epilogue),
            "_softmax" => self.softmax16(head, epilogue),
            _ => Err(cut()),
        }
    }
}

/// The limits of a result: the integers of the real limits.
fn limits(epilogue: &Epilogue, qparams: QParams) -> Limits {
    let integer = |number: f64| (number / qparams.scale).round_ties_even().clamp(-32_767.0, 32_767.0) as i32;
    Limits { least: integer(epilogue.least), most: integer(epilogue.most) }
}

/// A factor of 15 bits and the power of two that a product with the factor is divided by, as TensorFlow Lite's
/// `MultiplyByQuantizedMultiplier` of int64 has them.
pub(super) fn reduced(Multiplier { multiplier, shift }: Multiplier) -> (i32, i32) {
    let reduced = if multiplier < 0x7fff_0000 { (multiplier + (1 << 15)) >> 16 } else { 0x7fff };
    (reduced, 15 - shift)
}
