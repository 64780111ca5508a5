//! Decomposes the operators that have kernels in our runtime and not in ExecuTorch's runtime.

use etbuild_ir::Graph;

use crate::Refusal;
use crate::pass::Pass;
use crate::{decompose, edit};

/// The pass.
pub static PASS: Pass = Pass {
    name: "decompose_for_upstream",
    purpose: "Decomposes the operators that have kernels in our runtime and not in ExecuTorch's runtime.",
    run,
};

fn run(graph: Graph) -> Result<Graph, Vec<Refusal>> {
    edit::rewrite(graph, decompose::rule)
}
