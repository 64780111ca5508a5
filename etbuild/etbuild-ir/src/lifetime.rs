//! From when to when each value of a graph must keep its memory.

use crate::{Graph, IdMap, ValueId, ValueKind};

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

/// The lifetime of every value that needs memory: inputs and computed values. Linear in the size of the graph.
pub fn lifetimes(graph: &Graph) -> IdMap<Lifetime> {
    let mut lifetimes = IdMap::default();
    let mut touch = |id: ValueId, step: usize| extend(&mut lifetimes, graph, id, step);
    graph.inputs.iter().for_each(|id| touch(*id, 0));
    for (index, node) in graph.nodes.iter().enumerate() {
        node.uses().chain(node.outputs.iter().copied()).for_each(|id| touch(id, index + 1));
    }
    graph.outputs.iter().for_each(|id| touch(*id, graph.nodes.len() + 1));
    lifetimes
}

fn extend(lifetimes: &mut IdMap<Lifetime>, graph: &Graph, id: ValueId, step: usize) {
    if matches!(graph.value(id).kind, ValueKind::Constant { .. }) {
        return;
    }
    let now = Lifetime { first: step, last: step };
    let whole = lifetimes.get(id).map_or(now, |known| known.union(now));
    lifetimes.insert(id, whole);
}
