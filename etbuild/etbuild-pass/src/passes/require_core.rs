//! Refuses operators that are not decomposed.

use etbuild_ir::{CoreAten, Graph};

use crate::pass::Pass;
use crate::{Reason, Refusal};

/// The pass.
pub static PASS: Pass =
    Pass { name: "require_core", purpose: "Refuses operators outside of Core ATen without a kernel.", run };

fn run(graph: Graph) -> Result<Graph, Vec<Refusal>> {
    let unknown = graph.nodes.iter().filter(|node| !CoreAten::contains(&node.operator));
    let refusals: Vec<_> = unknown.map(|node| Refusal::new(&graph, node, Reason::NoDecomposition)).collect();
    if refusals.is_empty() { Ok(graph) } else { Err(refusals) }
}
