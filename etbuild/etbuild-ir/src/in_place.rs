//! Nodes that write to the memory of what they read: state and inputs take their new value where they lie.

use et_ops::Outs;

use crate::{Graph, IdMap, Node, ValueId, ValueKind};

/// What a node reads and writes in place, and the value that stands for it from then on; `None` for other nodes.
pub fn in_place(node: &Node) -> Option<(ValueId, ValueId)> {
    let operator = et_ops::find_functional(&node.operator.qualified())?;
    match (operator.outs(), node.uses().next(), &node.outputs[..]) {
        (Outs::FirstArgument, Some(target), [value]) => Some((target, *value)),
        _ => None,
    }
}

/// The nodes that write in place though something else needs what was there, each with the reason. Nobody else may read it,
/// and what is written is state or an input whose update is the node's value: so nodes may be moved as their values allow.
/// Linear in the graph.
pub fn unsound_writes(graph: &Graph) -> Vec<(&Node, &'static str)> {
    let writes: Vec<(&Node, ValueId, ValueId)> =
        graph.nodes.iter().filter_map(|node| in_place(node).map(|(target, value)| (node, target, value))).collect();
    if writes.is_empty() {
        return Vec::new();
    }
    let mut reads: IdMap<usize> = IdMap::default();
    let in_nodes = graph.nodes.iter().flat_map(Node::uses);
    for id in in_nodes.chain(graph.results()) {
        let known = reads.get(id).copied().unwrap_or(0);
        reads.insert(id, known + 1);
    }
    let mut updates: IdMap<ValueId> = IdMap::default();
    graph.updates.iter().for_each(|update| _ = updates.insert(update.target, update.value));
    let reason = |target: ValueId, value: ValueId| match graph.values.get(target.index()).map(|value| &value.kind) {
        Some(ValueKind::State { .. } | ValueKind::Input) if updates.get(target) != Some(&value) => {
            Some("it writes to what is not updated with its value")
        }
        Some(ValueKind::State { .. } | ValueKind::Input) if reads.get(target) == Some(&1) => None,
        Some(ValueKind::State { .. } | ValueKind::Input) => Some("it writes to what is read elsewhere too"),
        _ => Some("it writes to what is neither state nor an input"),
    };
    writes.into_iter().filter_map(|(node, target, value)| Some((node, reason(target, value)?))).collect()
}
