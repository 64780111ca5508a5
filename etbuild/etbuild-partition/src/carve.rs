//! Carving: a partition becomes a graph.

use std::collections::HashSet;

use etbuild_ir::{Graph, IdMap, Node, Value, ValueId, ValueKind, in_place};

use crate::dequantized::Dequantized;

/// A graph of some nodes of a source graph, with the connections to the source graph.
pub struct Carved {
    /// The partition, constants included.
    pub graph: Graph,
    /// The inputs of the partition as values of the source graph, in order of first use.
    pub inputs: Vec<ValueId>,
    /// The outputs of the partition as values of the source graph, in order of computation.
    pub outputs: Vec<ValueId>,
    /// The inputs that the partition writes in place, and the outputs that they become: pairs of positions.
    pub writes: Vec<i64>,
}

/// Carves the nodes at `indices`, ascending, out of `graph`. `escapes` says whether a value is read outside of the
/// partition; `stepped` has the states that the backend writes in place, by their new values; `copied` the nodes of which the partition gets a
/// copy if it reads their results.
pub fn carve(
    graph: &Graph,
    indices: &[usize],
    escapes: impl Fn(ValueId) -> bool,
    stepped: &IdMap<ValueId>,
    copied: &Dequantized,
) -> Carved {
    let (moved, carved, inputs, nodes) = (IdMap::default(), Graph::default(), Vec::new(), Vec::new());
    let mut carver = Carver { source: graph, copied, moved, carved, inputs, nodes };
    indices.iter().for_each(|index| carver.add_node(&graph.nodes[*index]));
    let Carver { moved, mut carved, inputs, nodes, .. } = carver;
    let computed = indices.iter().flat_map(|index| graph.nodes[*index].outputs.iter().copied());
    let outputs: Vec<ValueId> = computed.filter(|id| escapes(*id)).collect();
    carved.outputs = outputs.iter().filter_map(|id| moved.get(*id).copied()).collect();
    carved.nodes = nodes;
    let position =
        |ids: &[ValueId], id: ValueId| ids.iter().position(|other| *other == id).map(|position| position as i64);
    let written = indices.iter().flat_map(|index| in_place(&graph.nodes[*index]));
    let steps = outputs.iter().filter_map(|value| Some((*stepped.get(*value)?, *value)));
    let pairs = written
        .chain(steps)
        .filter_map(|(target, value)| Some([position(&inputs, target)?, position(&outputs, value)?]));
    let writes = pairs.flatten().collect();
    Carved { graph: carved, inputs, outputs, writes }
}

/// The values that are read outside of the partition that computes the value; of `copied` nodes, partitions read the operands.
pub fn escaping(graph: &Graph, partitions: &[Vec<usize>], copied: &Dequantized) -> HashSet<ValueId> {
    let partition_of = partition_of(graph, partitions);
    let mut computed_in = IdMap::default();
    for (node, partition) in graph.nodes.iter().zip(&partition_of) {
        for id in &node.outputs {
            computed_in.insert(*id, *partition);
        }
    }
    let mut escaping: HashSet<ValueId> = graph.results().collect();
    for (node, partition) in graph.nodes.iter().zip(&partition_of) {
        let read = node.uses().filter(|id| computed_in.get(*id) != Some(partition));
        let read = read.map(|id| copied.integers(graph, id).filter(|_| partition.is_some()).unwrap_or(id));
        escaping.extend(read.filter(|id| computed_in.get(*id) != Some(partition)));
    }
    escaping
}

/// The partition of each node; `None` for a node outside all partitions.
pub fn partition_of(graph: &Graph, partitions: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut partition_of = vec![None; graph.nodes.len()];
    for (partition, nodes) in partitions.iter().enumerate() {
        nodes.iter().for_each(|node| partition_of[*node] = Some(partition));
    }
    partition_of
}

struct Carver<'a> {
    source: &'a Graph,
    copied: &'a Dequantized,
    moved: IdMap<ValueId>,
    carved: Graph,
    inputs: Vec<ValueId>,
    nodes: Vec<Node>,
}

impl Carver<'_> {
    fn add_node(&mut self, node: &Node) {
        let mut node = node.clone();
        node.replace_uses(|id| self.used(id));
        node.outputs.iter_mut().for_each(|id| *id = self.add(*id, ValueKind::Computed));
        self.nodes.push(node);
    }

    /// The operand of a node as a value of the partition: computed inside, a constant, or an input.
    fn used(&mut self, id: ValueId) -> ValueId {
        if let Some(moved) = self.moved.get(id) {
            return *moved;
        }
        if let Some(node) = self.copied.maker(id).and_then(|index| self.source.nodes.get(index)) {
            self.add_node(node);
            return self.moved.get(id).copied().unwrap_or(id);
        }
        match &self.source.value(id).kind {
            constant @ ValueKind::Constant { .. } => self.add(id, constant.clone()),
            _ => {
                let input = self.add(id, ValueKind::Input);
                self.carved.inputs.push(input);
                self.inputs.push(id);
                input
            }
        }
    }

    fn add(&mut self, id: ValueId, kind: ValueKind) -> ValueId {
        let value = self.source.value(id);
        let moved = self.carved.add_like(&Value { kind, ..value.clone() });
        self.source.origins.get(id).map(|origin| self.carved.origins.insert(moved, origin.clone()));
        self.moved.insert(id, moved);
        moved
    }
}
