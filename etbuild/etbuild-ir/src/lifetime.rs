//! Lifetimes of values.

use std::collections::HashMap;

use crate::{Control, Graph, IdMap, ValueId, ValueKind};

/// The steps of a method during which a value is in use, inclusive. Step 0 writes the inputs, step `n` runs the `n`th
/// node, and the step after the last node reads the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The step that writes the value.
    pub first: usize,
    /// The last step that reads or writes the value.
    pub last: usize,
}

impl Lifetime {
    /// Whether the lifetimes have a common step.
    pub const fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// The shortest lifetime that contains both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }
}

/// The lifetime of every value that needs memory: inputs, state and computed tensors. State lives for the whole
/// method. A value that is in use before and inside of a loop lives until the end of the loop. Linear in the size of the graph per loop.
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

/// The first and last step of every loop, from the label to the jump back, inner loops first.
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

/// Extends the lifetime of values that are written before a loop and read inside until the end of the loop.
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
