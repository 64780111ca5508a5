//! Removal of unused values: the float weights that quantized weights replace.

use etbuild_ir::{Graph, IdMap, Update, ValueId};

/// The graph without unused values.
pub fn prune(mut old: Graph) -> Graph {
    let mut kept: IdMap<()> = IdMap::default();
    let in_nodes = old.nodes.iter().flat_map(|node| node.uses().chain(node.outputs.iter().copied()));
    let targets = old.updates.iter().map(|update| update.target);
    in_nodes.chain(old.inputs.iter().copied()).chain(old.results()).chain(targets).for_each(|id| {
        kept.insert(id, ());
    });
    let (mut graph, mut moved) = (Graph::default(), IdMap::default());
    for (id, value) in old.values_with_ids().filter(|(id, _)| kept.get(*id).is_some()) {
        let new = graph.add_like(value);
        old.origins.get(id).map(|origin| graph.origins.insert(new, origin.clone()));
        moved.insert(id, new);
    }
    let now = |id: ValueId| moved.get(id).copied().unwrap_or(id);
    graph.nodes = std::mem::take(&mut old.nodes);
    for node in &mut graph.nodes {
        node.replace_uses(now);
        node.outputs.iter_mut().for_each(|id| *id = now(*id));
    }
    graph.inputs = old.inputs.iter().copied().map(now).collect();
    graph.outputs = old.outputs.iter().copied().map(now).collect();
    let updates = old.updates.iter();
    graph.updates = updates.map(|update| Update { target: now(update.target), value: now(update.value) }).collect();
    graph
}
