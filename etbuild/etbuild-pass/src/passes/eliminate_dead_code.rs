//! Drops nodes whose results nobody reads, and values that nothing mentions.

use std::collections::HashSet;

use etbuild_ir::{Graph, IdMap, Node, Update, ValueId};

use crate::Refusal;
use crate::pass::Pass;

/// The pass.
pub static PASS: Pass = Pass {
    name: "eliminate_dead_code",
    purpose: "Drops nodes and values that no output and no update depends on.",
    run,
};

fn run(mut graph: Graph) -> Result<Graph, Vec<Refusal>> {
    let nodes = live_nodes(std::mem::take(&mut graph.nodes), graph.results().collect());
    Ok(compact(graph, nodes))
}

fn live_nodes(nodes: Vec<Node>, mut used: HashSet<ValueId>) -> Vec<Node> {
    let mut live = Vec::new();
    for node in nodes.into_iter().rev() {
        if node.outputs.iter().any(|id| used.contains(id)) {
            used.extend(node.uses());
            live.push(node);
        }
    }
    live.reverse();
    live
}

/// The same graph with only the values that are mentioned.
fn compact(old: Graph, mut nodes: Vec<Node>) -> Graph {
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

#[cfg(test)]
mod tests {
    use et_core::ScalarType;
    use etbuild_ir::{Argument, OperatorName, TensorSpec, ValueKind};

    use super::*;

    #[test]
    fn only_inputs_stay_without_use() {
        let mut graph = Graph::default();
        let mut add = |name: &str, kind| graph.add_value(name, TensorSpec::contiguous(ScalarType::Float, [1]), kind);
        let [unused, x] = ["unused", "x"].map(|name| add(name, ValueKind::Input));
        let [dead, live] = ["dead", "live"].map(|name| add(name, ValueKind::Computed));
        let node = |output| Node {
            operator: OperatorName::aten("relu", "default"),
            arguments: vec![Argument::Value(x)],
            outputs: vec![output],
        };
        graph.nodes = vec![node(dead), node(live)];
        (graph.inputs, graph.outputs) = (vec![unused, x], vec![live]);
        let graph = run(graph).unwrap();
        let names: Vec<_> = graph.values.iter().map(|value| value.name.as_str()).collect();
        assert_eq!(names, ["unused", "x", "live"]);
        assert_eq!(graph.nodes.len(), 1);
        assert_eq!(graph.outputs, graph.nodes[0].outputs);
    }
}
