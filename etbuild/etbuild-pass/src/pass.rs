//! What a pass is, which ones run in what order, and running them.

use etbuild_ir::{Dialect, Graph, Node, Program, Verified};

use crate::passes::{
    decompose_for_upstream, decompose_to_core, eliminate_dead_code, flatten_control_flow, fold_batch_norm,
    fold_constants, hoist_slices, legalize_to_edge, remove_identities, require_core, require_kernels,
    require_upstream_kernels,
};
use crate::{PassError, Refusal};

/// A pure function on graphs. It takes time linear in the size of the graph, but for looking up names.
#[derive(Debug)]
pub struct Pass {
    /// Its name, which is that of its file.
    pub name: &'static str,
    /// What holds after it, in one sentence.
    pub purpose: &'static str,
    /// The function; it refuses with every call that it cannot deal with.
    pub run: fn(Graph) -> Result<Graph, Vec<Refusal>>,
}

/// From a captured program to canonical operators.
pub static TO_CORE_ATEN: &[&Pass] = &[
    &decompose_to_core::PASS,
    &remove_identities::PASS,
    &fold_batch_norm::PASS,
    &hoist_slices::PASS,
    &eliminate_dead_code::PASS,
    &require_core::PASS,
];

/// From canonical operators to what runs.
pub static TO_EDGE: &[&Pass] = &[
    &legalize_to_edge::PASS,
    &fold_constants::PASS,
    &remove_identities::PASS,
    &eliminate_dead_code::PASS,
    &require_kernels::PASS,
];

/// From one graph with graphs inside to one line of nodes with jumps.
pub static TO_LOWERED: &[&Pass] = &[&flatten_control_flow::PASS];
/// Ahead of both for ExecuTorch's runtime.
pub static FOR_UPSTREAM: &[&Pass] = &[&decompose_for_upstream::PASS];

/// Behind both for ExecuTorch's runtime.
pub static CHECK_UPSTREAM: &[&Pass] = &[&require_upstream_kernels::PASS];

/// Runs passes in order on every method.
pub fn run(passes: &[&Pass], mut program: Program) -> Result<Program, PassError> {
    for (method, graph) in &mut program.methods {
        for pass in passes {
            *graph = run_nested(pass, std::mem::take(graph)).map_err(|refusals| refused(method, refusals))?;
        }
    }
    Ok(program)
}

/// Runs a pass on the graphs that nodes run, then on the graph itself.
fn run_nested(pass: &Pass, mut graph: Graph) -> Result<Graph, Vec<Refusal>> {
    for nested in graph.nodes.iter_mut().flat_map(Node::graphs_mut) {
        *nested = run_nested(pass, std::mem::take(nested))?;
    }
    (pass.run)(graph)
}

/// Checks what the passes made.
pub fn verified<D: Dialect>(program: Program) -> Result<Verified<D>, PassError> {
    Verified::verify(program).map_err(|violations| PassError::Invalid { dialect: D::NAME, violations })
}

fn refused(method: &str, refusals: Vec<Refusal>) -> PassError {
    let in_method = |refusal| Refusal { method: method.to_owned(), ..refusal };
    PassError::Refused(refusals.into_iter().map(in_method).collect())
}
