//! The report of partitioning: where every node runs, and why backends refuse the node.

use std::sync::Arc;

use etbuild_backend::Refusal;
use etbuild_ir::{Control, Graph, IdMap, Node, ValueId, aliases, is_elided};

/// Where a node of the lowered program runs, and the reasons of the backends that refuse the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeReport {
    /// The method.
    pub method: String,
    /// The operator.
    pub operator: String,
    /// The first output of the node; empty for a node without outputs.
    pub value: String,
    /// The module of the model's source.
    pub module: Option<Arc<str>>,
    /// Where the node runs.
    pub place: Place,
    /// The refusals, in the order of the backends.
    pub refusals: Vec<(&'static str, Refusal)>,
}

/// Where a node runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A partition of a backend. Partitions are numbered from 0 in each method.
    Backend(&'static str, usize),
    /// A portable kernel.
    Portable,
    /// No instruction: views move no bytes, labels and jumps call no kernel.
    Nowhere,
}

/// A report for each node before partitioning.
pub fn portable(method: &str, graph: &Graph) -> Vec<NodeReport> {
    let aliases = aliases(graph);
    graph.nodes.iter().map(|node| report(method, graph, node, &aliases)).collect()
}

fn report(method: &str, graph: &Graph, node: &Node, aliases: &IdMap<ValueId>) -> NodeReport {
    let first = node.outputs.first().copied();
    let elided = Control::of(node).is_some() || is_elided(node, aliases);
    NodeReport {
        method: method.to_owned(),
        operator: node.operator.to_string(),
        value: first.map(|id| graph.value(id).name.clone()).unwrap_or_default(),
        module: first.and_then(|id| graph.origins.get(id).cloned()),
        place: if elided { Place::Nowhere } else { Place::Portable },
        refusals: Vec::new(),
    }
}
