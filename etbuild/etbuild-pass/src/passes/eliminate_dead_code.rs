//! Removes nodes whose results no node and no output reads, and unused values.

use std::collections::HashSet;

use etbuild_ir::{Graph, Node, ValueId, compact};

use crate::Refusal;
use crate::pass::Pass;

/// The pass.
pub static PASS: Pass = Pass {
    name: "eliminate_dead_code",
    purpose: "Removes nodes and values that no output and no update depends on.",
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
