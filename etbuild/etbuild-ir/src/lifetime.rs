//! From when to when each value of a graph must keep its memory.

use std::collections::HashMap;

use crate::{Control, Graph, IdMap, ValueId, ValueKind};

/// The steps of a method during which a value is in use, both ends included. Step 0 is the caller's writing of the
/// inputs, step `n` the `n`th node, and the step after the last node the caller's reading of the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The step that writes the value.
    pub first: usize,
    /// The last step that reads or writes it.
    pub last: usize,
}

impl Lifetime {
    /// Whether both values need memory at some step.
    pub const fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// The shortest lifetime that covers both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }
}

/// The lifetime of every value that needs memory: inputs, state and computed tensors. State lives always. Linear in the
/// size of the graph, but for its loops: what is in use around one is so during all of it.
pub fn lifetimes(graph: &Graph) -> IdMap<Lifetime> {
    let mut lifetimes = IdMap::default();
    let end = graph.nodes.len() + 1;
    let mut touch = |id: ValueId, step: usize| extend(&mut lifetimes, graph, id, step);
    graph.inputs.iter().for_each(|id| touch(*id, 0));
    for (index, node) in graph.nodes.iter().enumerate() {
        node.uses().chain(node.outputs.iter().copied()).for_each(|id| touch(id, index + 1));
    }
    graph.results().for_each(|id| touch(id, end));
    for (id, value) in graph.values_with_ids() {
        if let ValueKind::State { .. } = value.kind {
            touch(id, 0);
            touch(id, end);
        }
    }
    graph.updates.iter().for_each(|update| touch(update.target, end));
    for (first, last) in loops(graph) {
        span(&mut lifetimes, first, last);
    }
    lifetimes
}

/// The steps of every loop: from the label to the jump back to it, inner loops first.
fn loops(graph: &Graph) -> Vec<(usize, usize)> {
    let (mut labels, mut found) = (HashMap::new(), Vec::new());
    for (index, node) in graph.nodes.iter().enumerate() {
        match Control::of(node) {
            Some(Control::Label(label)) => drop(labels.insert(label, index + 1)),
            Some(control) => {
                let start = control.target().and_then(|target| labels.get(&target));
                found.extend(start.map(|start| (*start, index + 1)));
            }
            None => {}
        }
    }
    found
}

/// Lets what is written before a loop and read in it live until the loop ends.
fn span(lifetimes: &mut IdMap<Lifetime>, first: usize, last: usize) {
    for lifetime in lifetimes.iter_mut() {
        if lifetime.first < first && (first..last).contains(&lifetime.last) {
            lifetime.last = last;
        }
    }
}

fn extend(lifetimes: &mut IdMap<Lifetime>, graph: &Graph, id: ValueId, step: usize) {
    if !graph.needs_memory(id) {
        return;
    }
    let now = Lifetime { first: step, last: step };
    let whole = lifetimes.get(id).map_or(now, |known| known.union(now));
    lifetimes.insert(id, whole);
}
