//! The report of partitioning: where every node runs, and why backends refuse the node.

use std::sync::Arc;

use et_core::ScalarType;
use etbuild_backend::Refusal;
use etbuild_ir::{Control, Graph, IdMap, Node, ValueId, aliases, is_elided};

use crate::work::work;

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
    /// The multiply-adds of the node, or the elements of a node without: an estimate for shares.
    pub work: u64,
    /// The first type among operands and results that is not `float32`; `float32` where there is none.
    pub scalar_type: ScalarType,
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
        work: work(graph, node),
        scalar_type: scalar_type(graph, node),
        place: if elided { Place::Nowhere } else { Place::Portable },
        refusals: Vec::new(),
    }
}

fn scalar_type(graph: &Graph, node: &Node) -> ScalarType {
    let mut types = node.uses().chain(node.outputs.iter().copied()).map(|id| graph.spec(id).scalar_type);
    types.find(|scalar_type| *scalar_type != ScalarType::Float).unwrap_or(ScalarType::Float)
}
