//! Gathering: as few partitions as the order of a method allows.
//!
//! Accepted nodes of one stretch and one [level](crate::levels) run together, connected or not.

use std::collections::BTreeMap;

use etbuild_ir::Graph;

use crate::judge::boundaries;
use crate::levels::{edges, levels};
use crate::trivial::is_trivial;

/// The result of gathering.
pub struct Gathered {
    /// The stretch of each node. Nodes may move within a stretch.
    pub stretches: Vec<usize>,
    /// The partitions: indices of nodes, ascending.
    pub partitions: Vec<Vec<usize>>,
    /// Accepted nodes without a partition, because a call would not pay off.
    pub dropped: Vec<usize>,
}

/// Gathers the nodes that the backend accepts, as `taken` says.
pub fn gather(graph: &Graph, taken: &[bool]) -> Gathered {
    let stretches = stretches(&boundaries(graph));
    let edges = edges(graph, &stretches);
    let levels = levels(graph, taken, &stretches, &edges);
    let mut found = Components::new(&edges, taken, &levels);
    let mut components: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, _) in taken.iter().enumerate().filter(|(_, taken)| **taken) {
        components.entry(found.root(index)).or_default().push(index);
    }
    let (mut partitions, mut dropped) = (BTreeMap::<(usize, usize), Vec<usize>>::new(), Vec::new());
    for (root, nodes) in components {
        if nodes.iter().all(|index| is_trivial(&graph.nodes[*index])) {
            dropped.extend(nodes);
        } else {
            partitions.entry((stretches[root], levels[root])).or_default().extend(nodes);
        }
    }
    let mut partitions: Vec<Vec<usize>> = partitions.into_values().collect();
    partitions.iter_mut().for_each(|nodes| nodes.sort_unstable());
    dropped.sort_unstable();
    Gathered { stretches, partitions, dropped }
}

/// Numbers the stretches. A boundary is a stretch by itself.
fn stretches(boundaries: &[bool]) -> Vec<usize> {
    let mut stretch = 0;
    let number = |is_boundary: &bool| {
        stretch += usize::from(*is_boundary);
        let own = stretch;
        stretch += usize::from(*is_boundary);
        own
    };
    boundaries.iter().map(number).collect()
}

/// Connected components of accepted nodes of one level (union-find).
struct Components {
    parents: Vec<usize>,
}

impl Components {
    fn new(edges: &[(usize, usize)], taken: &[bool], levels: &[usize]) -> Self {
        let mut components = Self { parents: (0..levels.len()).collect() };
        for (producer, reader) in edges {
            if taken[*producer] && taken[*reader] && levels[*producer] == levels[*reader] {
                components.join(*producer, *reader);
            }
        }
        components
    }

    /// The first node of a component. Halves the path on the way, so that later searches are short.
    fn root(&mut self, mut index: usize) -> usize {
        while self.parents[index] != index {
            self.parents[index] = self.parents[self.parents[index]];
            index = self.parents[index];
        }
        index
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        let root = one.min(other);
        (self.parents[one], self.parents[other]) = (root, root);
    }
}
