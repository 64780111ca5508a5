//! Decomposes what our kernels compute in one piece and ExecuTorch's runtime does not.

use etbuild_ir::Graph;

use crate::Refusal;
use crate::pass::Pass;
use crate::{decompose, edit};

/// The pass.
pub static PASS: Pass = Pass {
    name: "decompose_for_upstream",
    purpose: "Decomposes what our kernels compute in one piece and ExecuTorch's runtime does not.",
    run,
};

fn run(graph: Graph) -> Result<Graph, Vec<Refusal>> {
    edit::rewrite(graph, decompose::rule)
}
