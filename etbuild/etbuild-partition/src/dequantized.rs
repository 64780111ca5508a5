//! Dequantized tensors that several partitions read.

use etbuild_ir::{Graph, IdMap, PerTensor, ValueId, ValueKind};

/// The nodes that dequantize computed tensors, of which each partition that reads one has a copy: the integers cross the border.
#[derive(Default)]
pub struct Dequantized {
    /// The positions of the nodes, by their results.
    makers: IdMap<usize>,
}

impl Dequantized {
    /// The nodes of a graph.
    pub fn of(graph: &Graph) -> Self {
        let mut makers = IdMap::default();
        for (index, node) in graph.nodes.iter().enumerate() {
            let is_constant = |id: ValueId| matches!(graph.value(id).kind, ValueKind::Constant { .. });
            if PerTensor::of_dequantize(node).is_some() && !node.uses().any(is_constant) {
                for id in &node.outputs {
                    makers.insert(*id, index);
                }
            }
        }
        Self { makers }
    }

    /// The position of the node that dequantizes to a value.
    pub fn maker(&self, id: ValueId) -> Option<usize> {
        self.makers.get(id).copied()
    }

    /// The integers behind a value.
    pub fn integers(&self, graph: &Graph, id: ValueId) -> Option<ValueId> {
        graph.nodes.get(self.maker(id)?)?.uses().next()
    }
}
