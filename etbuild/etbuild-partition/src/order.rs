//! The order of a method in which each partition is a single step.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

use etbuild_ir::{Graph, IdMap};

/// A step of a partitioned method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The node with this index.
    Node(usize),
    /// The partition with this index.
    Partition(usize),
}

/// The steps of a graph. Each step follows the steps that it reads from and otherwise keeps the order of the nodes.
/// Nodes stay in their stretch.
pub fn order(graph: &Graph, stretches: &[usize], partitions: &[&[usize]]) -> Vec<Step> {
    let mut steps = Steps::new(graph, stretches, partitions);
    let mut ordered = Vec::new();
    while let Some(Reverse((_, _, step))) = steps.ready.pop() {
        ordered.push(steps.steps[step]);
        steps.finish(step);
    }
    ordered
}

/// Steps in topological order.
struct Steps {
    steps: Vec<Step>,
    /// The stretch and position of each step.
    keys: Vec<(usize, usize)>,
    readers: Vec<Vec<usize>>,
    waiting: Vec<usize>,
    ready: BinaryHeap<Reverse<(usize, usize, usize)>>,
}

impl Steps {
    fn new(graph: &Graph, stretches: &[usize], partitions: &[&[usize]]) -> Self {
        let (steps, keys, step_of) = list(stretches, partitions);
        let mut readers = vec![Vec::new(); steps.len()];
        let mut waiting = vec![0; steps.len()];
        let mut seen = HashSet::new();
        let mut producers: IdMap<usize> = IdMap::default();
        for (index, node) in graph.nodes.iter().enumerate() {
            let reader = step_of[index];
            for producer in node.uses().filter_map(|id| producers.get(id).copied()) {
                // Within a loop, a later stretch may have computed the value in the previous iteration: only one
                // stretch is ordered here.
                let inside = keys[reader].0 == keys[producer].0;
                if inside && producer != reader && seen.insert((producer, reader)) {
                    readers[producer].push(reader);
                    waiting[reader] += 1;
                }
            }
            for id in &node.outputs {
                producers.insert(*id, reader);
            }
        }
        let mut steps = Self { steps, keys, readers, waiting, ready: BinaryHeap::new() };
        for step in 0..steps.steps.len() {
            if steps.waiting[step] == 0 {
                steps.push(step);
            }
        }
        steps
    }

    fn push(&mut self, step: usize) {
        let (stretch, position) = self.keys[step];
        self.ready.push(Reverse((stretch, position, step)));
    }

    fn finish(&mut self, step: usize) {
        for reader in std::mem::take(&mut self.readers[step]) {
            self.waiting[reader] -= 1;
            if self.waiting[reader] == 0 {
                self.push(reader);
            }
        }
    }
}

/// The steps, the key of each step, and the step of each node. A partition has the position of its last node.
fn list(stretches: &[usize], partitions: &[&[usize]]) -> (Vec<Step>, Vec<(usize, usize)>, Vec<usize>) {
    let mut inside = BTreeMap::new();
    for (partition, nodes) in partitions.iter().enumerate() {
        inside.extend(nodes.iter().map(|node| (*node, (partition, nodes.last() == Some(node)))));
    }
    let (mut steps, mut keys, mut step_of) = (Vec::new(), Vec::new(), vec![0; stretches.len()]);
    for (index, stretch) in stretches.iter().enumerate() {
        let step = match inside.get(&index) {
            Some((_, false)) => continue,
            Some((partition, true)) => Step::Partition(*partition),
            None => Step::Node(index),
        };
        let own = [index];
        let nodes = if let Step::Partition(partition) = step { partitions[partition] } else { &own };
        nodes.iter().for_each(|node| step_of[*node] = steps.len());
        keys.push((*stretch, index));
        steps.push(step);
    }
    (steps, keys, step_of)
}
