//! Leaves only canonical operators, and such as have a kernel in one piece.

use etbuild_ir::Graph;

use crate::Refusal;
use crate::pass::Pass;
use crate::{edit, whole};

/// The pass.
pub static PASS: Pass = Pass {
    name: "decompose_to_core",
    purpose: "Leaves only canonical operators, and such as have a kernel in one piece.",
    run,
};

fn run(graph: Graph) -> Result<Graph, Vec<Refusal>> {
    edit::rewrite(graph, whole::rule)
}
