//! The graphs of a partition: one for each context length.

use et_qnn::build::Kind;
use serde::{Deserialize, Serialize};

use crate::program::{Program, Tensor, TensorId};

/// The graphs of a partition, the one with the shortest context first. All have the operations of the same nodes, so most constants have the
/// same number in each graph, and are stored with the first graph alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Partition {
    graphs: Vec<Program>,
}

impl Partition {
    /// The partition of graphs that differ in their context length.
    pub fn new(mut graphs: Vec<Program>) -> Self {
        if let Some((first, others)) = graphs.split_first_mut() {
            let tensors = others.iter_mut().flat_map(|graph| graph.tensors.iter_mut().zip(&first.tensors));
            tensors
                .filter(|(tensor, of_first)| tensor.data == of_first.data)
                .for_each(|(tensor, _)| tensor.data.clear());
        }
        Self { graphs }
    }

    /// The graphs.
    pub fn graphs(&self) -> &[Program] {
        &self.graphs
    }

    /// The elements of a tensor of a graph, if it is a constant.
    pub fn data<'p>(&'p self, graph: &'p Program, id: TensorId) -> &'p [u8] {
        let Tensor { kind, data, .. } = graph.get(id);
        let of_first = || self.graphs.first().and_then(|first| first.tensors.get(id.0));
        match of_first() {
            Some(first) if *kind == Kind::Static && data.is_empty() => &first.data,
            _ => data,
        }
    }
}
