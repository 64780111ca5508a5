//! Refuses operators that ExecuTorch's runtime lacks, all at once.

use et_ops::{Operator, Primitive};
use etbuild_ir::{Graph, Node};

use crate::pass::Pass;
use crate::{Reason, Refusal};

/// The pass.
pub static PASS: Pass =
    Pass { name: "require_upstream_kernels", purpose: "Refuses operators that ExecuTorch's runtime lacks.", run };

fn run(graph: Graph) -> Result<Graph, Vec<Refusal>> {
    let missing = graph.nodes.iter().filter(|node| !has_upstream(node) || is_conv3d(&graph, node));
    let refusals: Vec<_> = missing.map(|node| Refusal::new(&graph, node, Reason::NotUpstream)).collect();
    if refusals.is_empty() { Ok(graph) } else { Err(refusals) }
}

fn has_upstream(node: &Node) -> bool {
    if node.operator.runs_graphs() || node.operator.is_custom() {
        return true; // ExecuTorch's runtime runs a custom operator with the kernel that its user registers.
    }
    let operator = et_ops::find_functional(&node.operator.qualified()).map(Operator::name);
    let primitive = node.operator.primitive().map(Primitive::name);
    operator.or(primitive).is_some_and(et_ops::has_upstream)
}

/// Whether the node is a three-dimensional convolution, which ExecuTorch's kernel does not support.
fn is_conv3d(graph: &Graph, node: &Node) -> bool {
    node.operator.name() == "convolution" && node.uses().next().is_some_and(|input| graph.spec(input).rank() > 4)
}
