//! The level of a node: the largest number of times that a path to the node, within its stretch, leaves a partition.
//!
//! Accepted nodes of one level can run together: a path between two accepted nodes through a refused node would raise
//! the level. The number of levels is the fewest partitions on the longest path of the stretch. Accepted nodes that
//! no node of their level reads sink, with their operands, to the level of the first reader, so that a mask that is
//! computed early joins the partition of its reader. A node stays if its operand stays and would leave the partition
//! only because of the node. Linear in the size of the graph.

use etbuild_ir::{Graph, IdMap};

/// Pairs of producer and reader within a stretch, in the order of the readers.
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

/// The levels after accepted nodes have sunk as far as their readers allow. Pinned nodes stay.
fn sink(taken: &[bool], pinned: &[bool], edges: &[(usize, usize)], levels: &[usize]) -> Vec<usize> {
    let mut levels = levels.to_vec();
    let mut limits: Vec<Option<usize>> = vec![None; levels.len()];
    // Readers come after producers, so a reader has sunk before its level limits the producer.
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

/// Pins a node that would sink away from an accepted producer of the same level, where the producer stays and its
/// result would leave the partition only because of the node.
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

/// The nodes whose value is a result of the method or is read in another stretch.
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
