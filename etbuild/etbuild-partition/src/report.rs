//! Where every node runs, and why not elsewhere.

use std::sync::Arc;

use etbuild_backend::Refusal;
use etbuild_ir::{Control, Graph, IdMap, Node, ValueId, aliases, is_elided};

/// Where a node of the lowered program runs, and why not elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeReport {
    /// The method.
    pub method: String,
    /// The operator.
    pub operator: String,
    /// The first value that it computes; empty for a node that computes none.
    pub value: String,
    /// The module of the model's source that it comes from.
    pub module: Option<Arc<str>>,
    /// Where it runs.
    pub place: Place,
    /// What the engines said that were asked before, in order.
    pub refusals: Vec<(&'static str, Refusal)>,
}

/// Where a node runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a partition of an engine, which are counted from 0 in each method.
    Engine(&'static str, usize),
    /// In a portable kernel.
    Portable,
    /// Nowhere: a view moves no bytes, a label or a jump is no call.
    Nowhere,
}

/// A report for each node, as if no engine took any.
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
