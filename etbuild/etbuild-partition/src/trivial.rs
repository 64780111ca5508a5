//! Nodes that compute nothing: they move elements, or only say how they are read.

use etbuild_ir::Node;

/// Operators that give the elements of their operand another shape or order.
const TRIVIAL: &[&str] = &[
    "aten.alias_copy.default",
    "aten.clone.default",
    "aten.detach_copy.default",
    "aten.expand_copy.default",
    "aten.permute_copy.default",
    "aten.squeeze_copy.default",
    "aten.squeeze_copy.dim",
    "aten.squeeze_copy.dims",
    "aten.t_copy.default",
    "aten.transpose_copy.int",
    "aten.unsqueeze_copy.default",
    "aten.view_copy.default",
];

/// Whether a call of an engine for this node alone would cost more than it gains.
pub fn is_trivial(node: &Node) -> bool {
    TRIVIAL.contains(&node.operator.as_str())
}
