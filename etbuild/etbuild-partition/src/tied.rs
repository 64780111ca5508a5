//! Tied weights: embedding tables that are also the weight of a linear layer, mostly the head of a language model. Table and head are
//! often in different partitions, and a backend that lowers one of them cannot see the other.

use std::collections::BTreeSet;

use etbuild_ir::{Argument, Digest, Graph, Node, Program, ValueId};

/// Marks the tied tables of a program, so that a backend can read the table in the form of the linear layer's weight.
pub fn mark_tied_tables(program: &mut Program) {
    let linear = |node: &Node| operand(node, "aten.linear.default", 1);
    let weights: BTreeSet<Digest> =
        program.methods.values().flat_map(|graph| constants(graph, linear)).map(|(_, digest)| digest).collect();
    for graph in program.methods.values_mut() {
        let table = |node: &Node| operand(node, "aten.embedding.default", 0);
        let tied: Vec<ValueId> =
            constants(graph, table).filter(|(_, digest)| weights.contains(digest)).map(|(id, _)| id).collect();
        tied.into_iter().for_each(|id| graph.values[id.index()].is_tied = true);
    }
}

/// The constants that nodes have as this operand.
fn constants(graph: &Graph, operand: impl Fn(&Node) -> Option<ValueId>) -> impl Iterator<Item = (ValueId, Digest)> {
    let ids = graph.nodes.iter().filter_map(operand);
    ids.filter_map(|id| graph.constant(id).map(|data| (id, data.digest())))
}

/// The operand at a position of an operator's node.
fn operand(node: &Node, operator: &str, position: usize) -> Option<ValueId> {
    match node.arguments.get(position) {
        Some(Argument::Value(id)) if node.operator.as_str() == operator => Some(*id),
        _ => None,
    }
}
