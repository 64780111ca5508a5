//! The report of partitioning: where every node runs, and why backends refuse the node.

use std::collections::BTreeSet;
use std::sync::Arc;

use et_core::ScalarType;
use etbuild_backend::Refusal;
use etbuild_ir::{Control, Graph, IdMap, Links, Node, ValueId, aliases, is_elided};

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
    /// The type and the largest shape of the first output, such as `float32[1, 8]`; empty for a node without outputs.
    pub shape: String,
    /// The positions of the nodes whose results the node reads, each once, in order.
    pub reads: Vec<usize>,
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
    let (aliases, links) = (aliases(graph), Links::of(graph));
    graph.nodes.iter().map(|node| report(method, &links, node, &aliases)).collect()
}

fn report(method: &str, links: &Links<'_>, node: &Node, aliases: &IdMap<ValueId>) -> NodeReport {
    let graph = links.graph;
    let first = node.outputs.first().copied();
    let elided = Control::of(node).is_some() || is_elided(node, aliases);
    NodeReport {
        method: method.to_owned(),
        operator: node.operator.to_string(),
        value: first.map(|id| graph.value(id).name.clone()).unwrap_or_default(),
        shape: first.map(|id| shape(graph, id)).unwrap_or_default(),
        reads: node.uses().filter_map(|id| links.maker_position(id)).collect::<BTreeSet<_>>().into_iter().collect(),
        module: first.and_then(|id| graph.origins.get(id).cloned()),
        work: work(graph, node),
        scalar_type: scalar_type(graph, node),
        place: if elided { Place::Nowhere } else { Place::Portable },
        refusals: Vec::new(),
    }
}

fn shape(graph: &Graph, id: ValueId) -> String {
    let spec = graph.spec(id);
    format!("{}{:?}", spec.scalar_type.name(), spec.sizes)
}

fn scalar_type(graph: &Graph, node: &Node) -> ScalarType {
    let mut types = node.uses().chain(node.outputs.iter().copied()).map(|id| graph.spec(id).scalar_type);
    types.find(|scalar_type| *scalar_type != ScalarType::Float).unwrap_or(ScalarType::Float)
}
