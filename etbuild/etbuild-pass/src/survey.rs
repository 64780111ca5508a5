//! Surveys: lowering that continues after refusals, to list all operators and all unsupported calls of a program.

use std::collections::HashSet;

use etbuild_ir::{AtenProgram, Graph, Node, Program, ValueKind};

use crate::pass::Pass;
use crate::passes::{TO_CORE_ATEN, TO_EDGE, TO_LOWERED};
use crate::{Refusal, Runtime};

/// A program, lowered as far as possible.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The lowered program without the refused calls. The results of refused calls become inputs.
    pub program: Program,
    /// The refused calls of all passes.
    pub refusals: Vec<Refusal>,
}

/// Runs the passes of [`crate::lower`]. After a refusal, the refused calls are removed and the pass runs again.
pub fn survey(program: AtenProgram, runtime: Runtime) -> Survey {
    let (mut program, mut refusals) = (program.into_program(), Vec::new());
    let lists = [runtime.first_passes(), TO_CORE_ATEN, TO_EDGE, runtime.last_passes(), TO_LOWERED];
    for (method, graph) in &mut program.methods {
        let mut found = Vec::new();
        for pass in lists.into_iter().flatten() {
            *graph = run_until_accepted(pass, std::mem::take(graph), &mut found);
        }
        refusals.extend(found.into_iter().map(|refusal| Refusal { method: method.clone(), ..refusal }));
    }
    Survey { program, refusals }
}

fn run_until_accepted(pass: &Pass, mut graph: Graph, refusals: &mut Vec<Refusal>) -> Graph {
    for nested in graph.nodes.iter_mut().flat_map(Node::graphs_mut) {
        *nested = run_until_accepted(pass, std::mem::take(nested), refusals);
    }
    loop {
        match (pass.run)(graph.clone()) {
            Ok(graph) => return graph,
            Err(found) => {
                let refused = remove_refused(&mut graph, &found);
                refusals.extend(found);
                if !refused {
                    return graph;
                }
            }
        }
    }
}

/// Removes the nodes of refusals; returns whether nodes were removed. Operands of removed nodes become outputs, and
/// results become inputs.
fn remove_refused(graph: &mut Graph, refusals: &[Refusal]) -> bool {
    let values: HashSet<&str> = refusals.iter().map(|refusal| refusal.value.as_str()).collect();
    let is_refused = |graph: &Graph, node: &Node| {
        node.outputs.first().is_some_and(|first| values.contains(graph.value(*first).name.as_str()))
    };
    let nodes = std::mem::take(&mut graph.nodes);
    let (refused, kept): (Vec<Node>, Vec<Node>) = nodes.into_iter().partition(|node| is_refused(graph, node));
    graph.nodes = kept;
    for node in &refused {
        graph.outputs.extend(node.uses());
        node.outputs.iter().for_each(|id| graph.values[id.index()].kind = ValueKind::Input);
    }
    !refused.is_empty()
}
