//! Renames operators to the kernel catalogue's operators, and turns numbers into operands.

use etbuild_ir::Graph;

use crate::Refusal;
use crate::pass::Pass;
use crate::{edit, legalize};

/// The pass.
pub static PASS: Pass = Pass {
    name: "legalize_to_edge",
    purpose: "Renames operators to the kernel catalogue's operators, and turns numbers into operands.",
    run,
};

fn run(graph: Graph) -> Result<Graph, Vec<Refusal>> {
    edit::rewrite(graph, legalize::rule)
}
