//! Which partition is the only reader of a value, and so the last one.

use etbuild_ir::{Control, Graph, IdMap, ValueId, ValueKind, aliases};

use crate::carve::partition_of;
use crate::dequantized::Dequantized;

/// The readers of the values of a graph. Views count for their source.
pub struct Readers {
    /// The sources of views.
    sources: IdMap<ValueId>,
    /// The number of the partition that alone reads a value; `None` for a value that others read too, or that is left after the method.
    only: IdMap<Option<usize>>,
}

impl Readers {
    /// The readers where the nodes of each partition become one call. In a graph with loops, no partition is the last reader.
    /// Of `copied` nodes, partitions read the operands too.
    pub fn of(graph: &Graph, partitions: &[Vec<usize>], copied: &Dequantized) -> Self {
        let mut readers = Self { sources: aliases(graph), only: IdMap::default() };
        if graph.nodes.iter().any(|node| Control::of(node).is_some()) {
            return readers;
        }
        for (node, partition) in graph.nodes.iter().zip(partition_of(graph, partitions)) {
            let integers = node.uses().filter_map(|id| copied.integers(graph, id));
            node.uses().chain(integers).for_each(|id| readers.add(id, partition));
        }
        graph.results().for_each(|id| readers.add(id, None));
        graph.updates.iter().flat_map(|update| [update.target, update.value]).for_each(|id| readers.add(id, None));
        let kept = |kind: &ValueKind| !matches!(kind, ValueKind::Input | ValueKind::Computed);
        let kept = graph.values_with_ids().filter(|(_, value)| kept(&value.kind));
        kept.for_each(|(id, _)| readers.add(id, None));
        readers
    }

    /// The positions of the inputs of a partition whose memory nothing reads after the call, and which share it with no other input.
    pub fn ended(&self, partition: usize, inputs: &[ValueId]) -> Vec<usize> {
        let is_alone = |id: ValueId| inputs.iter().filter(|other| self.source(**other) == self.source(id)).count() == 1;
        let ends = |id: ValueId| self.only.get(self.source(id)) == Some(&Some(partition)) && is_alone(id);
        (0..inputs.len()).filter(|position| ends(inputs[*position])).collect()
    }

    fn add(&mut self, id: ValueId, partition: Option<usize>) {
        let source = self.source(id);
        let known = self.only.get(source).copied().unwrap_or(partition);
        self.only.insert(source, known.filter(|known| Some(*known) == partition));
    }

    fn source(&self, id: ValueId) -> ValueId {
        self.sources.get(id).copied().unwrap_or(id)
    }
}
