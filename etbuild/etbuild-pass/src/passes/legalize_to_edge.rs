//! Names operators as the kernel catalogue does and makes numbers operands of their own.

use etbuild_ir::Graph;

use crate::Refusal;
use crate::pass::Pass;
use crate::{edit, legalize};

/// The pass.
pub static PASS: Pass = Pass {
    name: "legalize_to_edge",
    purpose: "Names operators as the kernel catalogue does and makes numbers operands of their own.",
    run,
};

fn run(graph: Graph) -> Result<Graph, Vec<Refusal>> {
    edit::rewrite(graph, legalize::rule)
}
