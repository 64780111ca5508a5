//! Removal of unused values.

use std::collections::HashSet;

use crate::{Graph, IdMap, Node, Update, ValueId};

/// The graph with other nodes, and only the values that nodes, inputs, outputs and updates refer to.
pub fn compact(old: Graph, mut nodes: Vec<Node>) -> Graph {
    let in_nodes = nodes.iter().flat_map(|node| node.uses().chain(node.outputs.iter().copied()));
    let updated = old.updates.iter().map(|update| update.target);
    let outside = old.inputs.iter().copied().chain(old.results()).chain(updated);
    let mentioned: HashSet<ValueId> = in_nodes.chain(outside).collect();
    let (mut graph, mut moved) = (Graph::default(), IdMap::default());
    for (id, value) in old.values_with_ids().filter(|(id, _)| mentioned.contains(id)) {
        let new = graph.add_like(value);
        old.origins.get(id).map(|origin| graph.origins.insert(new, origin.clone()));
        moved.insert(id, new);
    }
    let now = |id: ValueId| moved.get(id).copied().unwrap_or(id);
    for node in &mut nodes {
        node.replace_uses(now);
        node.outputs.iter_mut().for_each(|id| *id = now(*id));
    }
    graph.inputs = old.inputs.iter().copied().map(now).collect();
    graph.outputs = old.outputs.iter().copied().map(now).collect();
    let updates = old.updates.iter();
    graph.updates = updates.map(|update| Update { target: now(update.target), value: now(update.value) }).collect();
    graph.nodes = nodes;
    graph
}
