//! As few partitions as the order of a method allows.
//!
//! Within a stretch without boundaries, a node's level is the number of times that the ways to it go from taken nodes to
//! others. Taken nodes of one level can run together: a way from one to another through a node that is not taken would
//! have raised the level. No way to cut a stretch gives fewer partitions on its longest way. Linear in the graph.

use std::collections::BTreeMap;

use etbuild_ir::{Graph, IdMap};

use crate::judge::boundaries;
use crate::trivial::is_trivial;

/// How the nodes of a graph hang together.
pub struct Gathered {
    /// The stretch of each node: nodes may be moved within it.
    pub stretches: Vec<usize>,
    /// The partitions: indices of nodes, ascending.
    pub partitions: Vec<Vec<usize>>,
    /// Taken nodes that are in none, because a call would not be worth it.
    pub dropped: Vec<usize>,
}

/// Gathers the nodes that are `taken`.
pub fn gather(graph: &Graph, taken: &[bool]) -> Gathered {
    let stretches = stretches(&boundaries(graph));
    let links = Links::new(graph, taken, &stretches);
    let mut components: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, _) in taken.iter().enumerate().filter(|(_, taken)| **taken) {
        components.entry(links.root(index)).or_default().push(index);
    }
    let (mut partitions, mut dropped) = (BTreeMap::<(usize, usize), Vec<usize>>::new(), Vec::new());
    for (root, nodes) in components {
        if nodes.iter().all(|index| is_trivial(&graph.nodes[*index])) {
            dropped.extend(nodes);
        } else {
            partitions.entry((stretches[root], links.levels[root])).or_default().extend(nodes);
        }
    }
    let mut partitions: Vec<Vec<usize>> = partitions.into_values().collect();
    partitions.iter_mut().for_each(|nodes| nodes.sort_unstable());
    dropped.sort_unstable();
    Gathered { stretches, partitions, dropped }
}

/// A number for each node: a boundary is alone in its stretch.
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

/// Levels, and which taken nodes of a level are connected by others of it.
struct Links {
    levels: Vec<usize>,
    parents: Vec<usize>,
}

impl Links {
    fn new(graph: &Graph, taken: &[bool], stretches: &[usize]) -> Self {
        let count = graph.nodes.len();
        let mut links = Self { levels: vec![0; count], parents: (0..count).collect() };
        let mut producers = IdMap::default();
        for (index, node) in graph.nodes.iter().enumerate() {
            let inside = |producer: &usize| stretches[*producer] == stretches[index];
            let before: Vec<usize> = node.uses().filter_map(|id| producers.get(id).copied()).filter(inside).collect();
            let rise = |producer: &usize| links.levels[*producer] + usize::from(taken[*producer] && !taken[index]);
            links.levels[index] = before.iter().map(rise).max().unwrap_or(0);
            for producer in before {
                if taken[producer] && taken[index] && links.levels[producer] == links.levels[index] {
                    links.join(producer, index);
                }
            }
            for id in &node.outputs {
                producers.insert(*id, index);
            }
        }
        links
    }

    /// The first node of a component.
    fn root(&self, mut index: usize) -> usize {
        while self.parents[index] != index {
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
