//! Lowering that goes on behind what it cannot lower, to see everything that a program calls and all that is missing.

use std::collections::HashSet;

use etbuild_ir::{AtenProgram, Graph, Node, Program, ValueKind};

use crate::pass::Pass;
use crate::passes::{TO_CORE_ATEN, TO_EDGE, TO_LOWERED};
use crate::{Refusal, Runtime};

/// A program as far as it can be lowered.
#[derive(Clone, Debug)]
pub struct Survey {
    /// What is left of the program: with refusals, it lacks the refused calls, whose results come from nowhere.
    pub program: Program,
    /// Every call that stands against lowering, whichever pass refuses it.
    pub refusals: Vec<Refusal>,
}

/// Runs the passes of [`crate::lower`]. A call that a pass refuses is noted and taken out, and the pass runs again.
pub fn survey(program: AtenProgram, runtime: Runtime) -> Survey {
    let (mut program, mut refusals) = (program.into_program(), Vec::new());
    let lists = [runtime.first_passes(), TO_CORE_ATEN, TO_EDGE, runtime.last_passes(), TO_LOWERED];
    for (method, graph) in &mut program.methods {
        let mut found = Vec::new();
        for pass in lists.into_iter().flatten() {
            *graph = go_on(pass, std::mem::take(graph), &mut found);
        }
        refusals.extend(found.into_iter().map(|refusal| Refusal { method: method.clone(), ..refusal }));
    }
    Survey { program, refusals }
}

fn go_on(pass: &Pass, mut graph: Graph, refusals: &mut Vec<Refusal>) -> Graph {
    for nested in graph.nodes.iter_mut().flat_map(Node::graphs_mut) {
        *nested = go_on(pass, std::mem::take(nested), refusals);
    }
    loop {
        match (pass.run)(graph.clone()) {
            Ok(graph) => return graph,
            Err(found) => {
                let refused = take_out(&mut graph, &found);
                refusals.extend(found);
                if !refused {
                    return graph;
                }
            }
        }
    }
}

/// Removes the nodes that compute what was refused; returns whether there were any. What they read stays needed, and what
/// they gave comes from outside.
fn take_out(graph: &mut Graph, refusals: &[Refusal]) -> bool {
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
