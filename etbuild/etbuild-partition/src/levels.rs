//! The level of a node: how often the ways to it within its stretch, from taken nodes, went on to others.
//!
//! Taken nodes of one level can run together: a way from one to another through a node that is not taken would have raised
//! the level. No cut of a stretch has fewer partitions on its longest way. A taken node that nothing of its own level reads
//! sinks to the first that does, with all that it is computed from, so that a mask that is computed early is no partition of its
//! own. One that reads what stays, and what would not leave otherwise, does not sink. Linear in the graph.

use etbuild_ir::{Graph, IdMap};

/// Who computes what who reads within a stretch, by readers in order.
pub fn edges(graph: &Graph, stretches: &[usize]) -> Vec<(usize, usize)> {
    let mut producers: IdMap<usize> = IdMap::default();
    let mut edges = Vec::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        let before = node.uses().filter_map(|id| producers.get(id).copied());
        edges.extend(before.filter(|before| stretches[*before] == stretches[index]).map(|before| (before, index)));
        for id in &node.outputs {
            producers.insert(*id, index);
        }
    }
    edges
}

/// The level of each node.
pub fn levels(graph: &Graph, taken: &[bool], stretches: &[usize], edges: &[(usize, usize)]) -> Vec<usize> {
    let mut levels = vec![0; graph.nodes.len()];
    for (producer, reader) in edges {
        let rise = usize::from(taken[*producer] && !taken[*reader]);
        levels[*reader] = levels[*reader].max(levels[*producer] + rise);
    }
    let mut pinned = read_elsewhere(graph, stretches);
    let sunk = sink(taken, &pinned, edges, &levels);
    pin_followers(taken, edges, (&levels, sunk), &mut pinned);
    sink(taken, &pinned, edges, &levels)
}

/// The levels once taken nodes have sunk as far as those that read them allow. What is pinned stays.
fn sink(taken: &[bool], pinned: &[bool], edges: &[(usize, usize)], levels: &[usize]) -> Vec<usize> {
    let mut levels = levels.to_vec();
    let mut limits: Vec<Option<usize>> = vec![None; levels.len()];
    // Readers come after what they read, so that a reader has sunk before its level is a limit.
    let mut edges = edges.iter().rev().peekable();
    for index in (0..levels.len()).rev() {
        if let (true, false, Some(limit)) = (taken[index], pinned[index], limits[index]) {
            levels[index] = levels[index].max(limit);
        }
        while let Some((producer, reader)) = edges.next_if(|(_, reader)| *reader == index) {
            let limit = levels[*reader].saturating_sub(usize::from(!taken[*reader]));
            limits[*producer] = Some(limits[*producer].map_or(limit, |other| other.min(limit)));
        }
    }
    levels
}

/// Pins nodes that would sink away from a taken node which they were in one level with, and which stays, where nothing else would
/// carry its result out of there.
fn pin_followers(
    taken: &[bool],
    edges: &[(usize, usize)],
    (levels, mut sunk): (&[usize], Vec<usize>),
    pinned: &mut [bool],
) {
    let mut escapes = pinned.to_vec();
    edges.iter().for_each(|(producer, reader)| escapes[*producer] |= !taken[*reader]);
    for (producer, reader) in edges.iter().filter(|(producer, _)| !escapes[*producer]) {
        let were_together = taken[*producer] && taken[*reader] && levels[*producer] == levels[*reader];
        if were_together && sunk[*producer] < sunk[*reader] {
            pinned[*reader] = true;
            sunk[*reader] = levels[*reader];
        }
    }
}

/// The nodes that compute a result of the method, or what another stretch reads.
fn read_elsewhere(graph: &Graph, stretches: &[usize]) -> Vec<bool> {
    let mut producers: IdMap<usize> = IdMap::default();
    for (index, node) in graph.nodes.iter().enumerate() {
        for id in &node.outputs {
            producers.insert(*id, index);
        }
    }
    let mut elsewhere = vec![false; graph.nodes.len()];
    graph.results().filter_map(|id| producers.get(id)).for_each(|producer| elsewhere[*producer] = true);
    for (index, node) in graph.nodes.iter().enumerate() {
        let outside = node.uses().filter_map(|id| producers.get(id));
        outside.filter(|producer| stretches[**producer] != stretches[index]).for_each(|producer| {
            elsewhere[*producer] = true;
        });
    }
    elsewhere
}
