//! The type of passes, and running a list of passes.

use etbuild_ir::{Dialect, Graph, Node, Program, Verified};

use crate::{PassError, Refusal};

/// A pure function on graphs. Linear in the size of the graph, apart from look-ups of names.
#[derive(Debug)]
pub struct Pass {
    /// The name: the name of the file.
    pub name: &'static str,
    /// The purpose, in a sentence.
    pub purpose: &'static str,
    /// The function. Refuses all unsupported calls at once.
    pub run: fn(Graph) -> Result<Graph, Vec<Refusal>>,
}

/// Runs passes in order on every method.
pub fn run(passes: &[&Pass], mut program: Program) -> Result<Program, PassError> {
    for (method, graph) in &mut program.methods {
        for pass in passes {
            *graph = run_nested(pass, std::mem::take(graph)).map_err(|refusals| refused(method, refusals))?;
        }
    }
    Ok(program)
}

/// Runs a pass on nested graphs, then on the graph.
fn run_nested(pass: &Pass, mut graph: Graph) -> Result<Graph, Vec<Refusal>> {
    for nested in graph.nodes.iter_mut().flat_map(Node::graphs_mut) {
        *nested = run_nested(pass, std::mem::take(nested))?;
    }
    (pass.run)(graph)
}

/// Verifies the output of passes.
pub fn verified<D: Dialect>(program: Program) -> Result<Verified<D>, PassError> {
    Verified::verify(program).map_err(|violations| PassError::Invalid { dialect: D::NAME, violations })
}

fn refused(method: &str, refusals: Vec<Refusal>) -> PassError {
    let in_method = |refusal| Refusal { method: method.to_owned(), ..refusal };
    PassError::Refused(refusals.into_iter().map(in_method).collect())
}
