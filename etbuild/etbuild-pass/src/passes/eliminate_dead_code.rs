//! Drops nodes whose results nobody reads, and values that nothing mentions.

use std::collections::HashSet;

use etbuild_ir::{Graph, Node, ValueId, compact};

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
