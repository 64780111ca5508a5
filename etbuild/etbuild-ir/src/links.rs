//! Producers and readers of values.

use crate::{Graph, IdMap, Node, ValueId};

/// The producer and the readers of every value of a graph. Built in linear time.
#[derive(Clone, Debug)]
pub struct Links<'g> {
    /// The graph.
    pub graph: &'g Graph,
    makers: IdMap<usize>,
    reads: IdMap<Reads>,
}

/// The number of reads of a value, and the last node that reads the value.
#[derive(Clone, Copy, Debug, Default)]
struct Reads {
    count: usize,
    last: Option<usize>,
}

impl<'g> Links<'g> {
    /// The links of a graph. The caller reads every result.
    pub fn of(graph: &'g Graph) -> Self {
        let mut links = Self { graph, makers: IdMap::default(), reads: IdMap::default() };
        for (position, node) in graph.nodes.iter().enumerate() {
            node.outputs.iter().for_each(|id| _ = links.makers.insert(*id, position));
            node.uses().for_each(|id| links.read(id, Some(position)));
        }
        graph.results().for_each(|id| links.read(id, None));
        links
    }

    fn read(&mut self, id: ValueId, by: Option<usize>) {
        let known = self.reads.get(id).copied().unwrap_or_default();
        self.reads.insert(id, Reads { count: known.count + 1, last: by.or(known.last) });
    }

    /// The position of the node that computes a value.
    pub fn maker_position(&self, id: ValueId) -> Option<usize> {
        self.makers.get(id).copied()
    }

    /// The node that computes a value.
    pub fn maker(&self, id: ValueId) -> Option<&'g Node> {
        self.graph.nodes.get(self.maker_position(id)?)
    }

    /// The number of reads of a value.
    pub fn read_count(&self, id: ValueId) -> usize {
        self.reads.get(id).map_or(0, |reads| reads.count)
    }

    /// The position of the last node that reads a value.
    pub fn last_reader_position(&self, id: ValueId) -> Option<usize> {
        self.reads.get(id)?.last
    }

    /// The only reader of a value; `None` where the value is read twice or is a result.
    pub fn only_reader(&self, id: ValueId) -> Option<&'g Node> {
        let reads = self.reads.get(id).filter(|reads| reads.count == 1)?;
        self.graph.nodes.get(reads.last?)
    }
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;

    use super::*;
    use crate::{Argument, OperatorName, TensorSpec, ValueKind};

    #[test]
    fn links_find_producers_and_readers() {
        let mut graph = Graph::default();
        let spec = TensorSpec::contiguous(ScalarType::Float, [2]);
        let [input, middle, output] = ["x", "middle", "y"].map(|name| {
            let kind = if name == "x" { ValueKind::Input } else { ValueKind::Computed };
            graph.add_value(name, spec.clone(), kind)
        });
        let operator = OperatorName::parse("aten.relu.default").unwrap();
        for (from, to) in [(input, middle), (middle, output)] {
            let arguments = vec![Argument::Value(from)];
            graph.nodes.push(Node { operator: operator.clone(), arguments, outputs: vec![to] });
        }
        graph.outputs.push(output);
        let links = Links::of(&graph);
        assert_eq!((links.maker_position(input), links.maker_position(output)), (None, Some(1)));
        assert_eq!(links.only_reader(middle), graph.nodes.last());
        assert_eq!((links.read_count(output), links.only_reader(output)), (1, None));
    }
}
