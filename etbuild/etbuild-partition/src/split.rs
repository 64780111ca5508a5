//! Splitting: partitions that a device cannot load as a whole become several.

use std::collections::BTreeMap;

use etbuild_backend::{Backend, TargetFacts};
use etbuild_ir::{Graph, IdMap};

use crate::carve::{carve, escaping};
use crate::dequantized::Dequantized;

/// The partitions in the parts that a backend that joins partitions asks for, in order: indices of nodes, ascending.
pub fn split(
    graph: &Graph,
    partitions: Vec<Vec<usize>>,
    backend: &dyn Backend,
    target: &TargetFacts,
) -> Vec<Vec<usize>> {
    // Carving copies the nodes.
    if !backend.joins() {
        return partitions;
    }
    let escaping = escaping(graph, &partitions, &Dequantized::default());
    let parts = |nodes: Vec<usize>| {
        let carved =
            carve(graph, &nodes, |id| escaping.contains(&id), &IdMap::default(), &Dequantized::default()).graph;
        let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        match backend.parts(&carved, target) {
            numbers if numbers.len() == nodes.len() => {
                numbers.iter().zip(nodes).for_each(|(number, node)| parts.entry(*number).or_default().push(node));
            }
            _ => drop(parts.insert(0, nodes)),
        }
        parts.into_values()
    };
    partitions.into_iter().flat_map(parts).collect()
}
