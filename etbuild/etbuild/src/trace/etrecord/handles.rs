//! The nodes of the exported graph that an instruction computes.
//!
//! An instruction computes the node of the value that it leaves in memory, and the nodes before it that no other instruction computes:
//! operators that were fused or folded, and views.

use std::collections::{BTreeMap, BTreeSet};

use etbuild_engine::import::ExportedGraph;

/// The position of a node, from 0. The debug handle is one more.
type Position = usize;

/// The nodes that are not given to an instruction yet.
pub struct Handles<'g> {
    graph: &'g ExportedGraph,
    /// The nodes by the values that they compute.
    makers: BTreeMap<&'g str, Position>,
    /// The nodes that some instruction computes in the end.
    kept: BTreeSet<Position>,
    given: BTreeSet<Position>,
    /// The folded normalizations, by the nodes before.
    folded: BTreeMap<Position, Position>,
}

impl<'g> Handles<'g> {
    /// The handles of a graph; `values` are those that instructions leave in memory.
    pub fn new<'v>(graph: &'g ExportedGraph, values: impl Iterator<Item = &'v str>) -> Self {
        let results = graph.nodes.iter().enumerate();
        let makers =
            results.flat_map(|(position, node)| node.results.iter().map(move |name| (name.as_str(), position)));
        let mut handles = Self {
            graph,
            makers: makers.collect(),
            kept: BTreeSet::new(),
            given: BTreeSet::new(),
            folded: BTreeMap::new(),
        };
        handles.kept = values.filter_map(|value| handles.node(value)).collect();
        handles.fold();
        handles
    }

    /// Gives the values before a folded normalization to the normalization: the weights before hold its factors, so that the
    /// instruction computes its result, under the name of the value before.
    fn fold(&mut self) {
        for (position, node) in self.graph.nodes.iter().enumerate() {
            let before = node.reads.first().and_then(|value| self.makers.get(value.as_str())).copied();
            let is_folded = is_normalization(&node.target) && !self.kept.contains(&position);
            if let Some(before) = before.filter(|before| is_folded && self.kept.remove(before)) {
                self.kept.insert(position);
                self.folded.insert(before, position);
            }
        }
    }

    /// The node that computes a value. A value that lowering made is of the node in whose place it is: the name of the made value
    /// begins with the name of the other.
    pub fn node(&self, value: &str) -> Option<Position> {
        let mut name = value;
        loop {
            match (self.makers.get(name), name.rfind('_')) {
                (Some(position), _) => return Some(self.folded.get(position).copied().unwrap_or(*position)),
                (None, Some(end)) => name = &name[..end],
                (None, None) => return None,
            }
        }
    }

    /// The handles of a node and of the nodes before it that no other instruction computes, in order.
    pub fn take(&mut self, position: Position) -> Vec<usize> {
        let mut taken = BTreeSet::from([position]);
        let mut open = vec![position];
        while let Some(position) = open.pop() {
            let reads = self.graph.nodes.get(position).map(|node| node.reads.as_slice()).unwrap_or_default();
            for before in reads.iter().filter_map(|value| self.makers.get(value.as_str())) {
                if !self.kept.contains(before) && !self.given.contains(before) && taken.insert(*before) {
                    open.push(*before);
                }
            }
        }
        self.given.extend(&taken);
        taken.iter().map(|position| handle(*position)).collect()
    }
}

/// Whether an operator is a normalization with constant factors, which lowering folds into the weights before.
fn is_normalization(target: &str) -> bool {
    ["aten.batch_norm.", "aten._native_batch_norm_legit_no_training."].iter().any(|name| target.contains(name))
}

/// The debug handle of a node.
pub const fn handle(position: Position) -> usize {
    position + 1
}

#[cfg(test)]
mod tests {
    use etbuild_engine::import::ExportedNode;

    use super::*;

    /// `x -> conv -> batch_norm -> relu`, and `out` of `relu` and `gate`.
    fn graph() -> ExportedGraph {
        let edges = [
            ("conv", &["x"][..]),
            ("batch_norm", &["conv"]),
            ("relu", &["batch_norm"]),
            ("gate", &["x"]),
            ("out", &["relu", "gate"]),
        ];
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let node = |(result, reads): (&str, &[&str])| ExportedNode {
            target: format!("torch.ops.aten.{result}.default"),
            results: owned(&[result]),
            reads: owned(reads),
            spec: None,
        };
        let nodes = edges.into_iter().map(node).collect();
        ExportedGraph { nodes, inputs: Vec::new(), weights: Vec::new(), serialized: String::new() }
    }

    #[test]
    fn fused_operators_are_those_of_the_instruction_that_stores_their_result() {
        let graph = graph();
        let mut handles = Handles::new(&graph, ["relu", "out"].into_iter());
        assert_eq!(handles.take(2), [1, 2, 3]);
        assert_eq!(handles.take(4), [4, 5]);
    }

    #[test]
    fn a_convolution_computes_the_normalization_that_was_folded_into_its_weights() {
        let graph = graph();
        let mut handles = Handles::new(&graph, ["conv", "relu"].into_iter());
        let convolution = handles.node("conv").unwrap();
        assert_eq!((handles.take(convolution), handles.take(2)), (vec![1, 2], vec![3]));
        assert_eq!(Handles::new(&graph, ["conv", "batch_norm"].into_iter()).node("conv"), Some(0));
    }

    #[test]
    fn a_made_value_is_of_the_node_in_whose_place_it_is() {
        let graph = graph();
        let handles = Handles::new(&graph, std::iter::empty());
        assert_eq!((handles.node("relu_quantized_1"), handles.node("other_1")), (Some(2), None));
    }
}
