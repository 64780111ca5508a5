//! Questions about nodes, for matches of several nodes.

use etbuild_ir::{Argument, Links, Node, ValueId};

/// Whether a node has this operator.
pub fn is(node: &Node, operator: &str) -> bool {
    node.operator.as_str() == operator
}

/// The value at a position of a node's arguments.
pub fn value(node: &Node, index: usize) -> Option<ValueId> {
    match node.arguments.get(index)? {
        Argument::Value(id) => Some(*id),
        _ => None,
    }
}

/// The position of the node that computes a value with one consumer.
pub fn read_once(links: &Links<'_>, id: ValueId) -> Option<usize> {
    links.maker_position(id).filter(|_| links.read_count(id) == 1)
}
