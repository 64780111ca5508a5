//! Decomposes all operators except Core ATen operators and preserved operators with a kernel.

use etbuild_ir::Graph;

use crate::Refusal;
use crate::pass::Pass;
use crate::{edit, preserve};

/// The pass.
pub static PASS: Pass = Pass {
    name: "decompose_to_core",
    purpose: "Decomposes all operators except Core ATen operators and preserved operators with a kernel.",
    run,
};

fn run(graph: Graph) -> Result<Graph, Vec<Refusal>> {
    edit::rewrite(graph, preserve::rule)
}
