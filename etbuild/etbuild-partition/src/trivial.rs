//! Nodes without arithmetic: copies and views.

use etbuild_ir::Node;

/// Operators that change only the shape or order of elements.
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

/// Whether a delegate call for this node alone would cost more than the call saves.
pub fn is_trivial(node: &Node) -> bool {
    TRIVIAL.contains(&node.operator.as_str())
}
