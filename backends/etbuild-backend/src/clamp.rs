//! Operators that limit their operand.

use etbuild_ir::{Argument, Node};

/// The limits of ReLU, `clamp` and `hardtanh`; `None` for another node. A limit that the node leaves out is the default of the
/// operator.
pub fn clamp_limits(node: &Node) -> Option<[f64; 2]> {
    let number = |position: usize, absent: f64| match node.arguments.get(position) {
        Some(Argument::Float(number)) => *number,
        Some(Argument::Int(number)) => *number as f64,
        _ => absent,
    };
    match node.operator.as_str() {
        "aten.relu.default" => Some([0.0, f64::INFINITY]),
        "aten.clamp.default" => Some([number(1, f64::NEG_INFINITY), number(2, f64::INFINITY)]),
        "aten.hardtanh.default" => Some([number(1, -1.0), number(2, 1.0)]),
        _ => None,
    }
}
