//! Refuses calls without a kernel, all at once.

use etbuild_ir::{Graph, Node};

use crate::pass::Pass;
use crate::{Reason, Refusal};

/// The pass.
pub static PASS: Pass = Pass { name: "require_kernels", purpose: "Refuses operators and types without a kernel.", run };

fn run(graph: Graph) -> Result<Graph, Vec<Refusal>> {
    let missing = graph.nodes.iter().filter_map(|node| missing(&graph, node).map(|reason| (node, reason)));
    let refusals: Vec<_> = missing.map(|(node, reason)| Refusal::new(&graph, node, reason)).collect();
    if refusals.is_empty() { Ok(graph) } else { Err(refusals) }
}

fn missing(graph: &Graph, node: &Node) -> Option<Reason> {
    if node.operator.runs_graphs() || node.operator.is_custom() || node.operator.primitive().is_some() {
        return None;
    }
    let Some(operator) = et_ops::find_functional(&node.operator.qualified()) else { return Some(Reason::NoKernel) };
    let tensors = node.uses().filter(|id| graph.number(*id).is_none());
    let mut types = tensors.map(|id| graph.spec(id).scalar_type);
    types.find(|scalar_type| !operator.dtypes.contains(*scalar_type)).map(Reason::NoKernelForType)
}
