//! The number of consumers of a value, including consumers of views of the value.

use etbuild_ir::{Argument, Graph, IdMap, Node, ValueId};

use crate::lower;

/// The number of reads of each value's memory.
#[derive(Debug, Default)]
pub struct Uses {
    roots: IdMap<ValueId>,
    counts: IdMap<usize>,
}

impl Uses {
    /// Counts the reads of a graph; the caller reads each graph output.
    pub fn of(graph: &Graph) -> Self {
        let mut uses = Self::default();
        graph.nodes.iter().for_each(|node| uses.node(node));
        graph.outputs.iter().for_each(|id| uses.count(*id));
        uses
    }

    /// Whether the base tensor of `id` has one consumer.
    pub fn is_read_once(&self, id: ValueId) -> bool {
        self.counts.get(self.root(id)) == Some(&1)
    }

    fn node(&mut self, node: &Node) {
        match (lower::is_view(node), &node.arguments[..], &node.outputs[..]) {
            (true, [Argument::Value(input), ..], [output]) => {
                let root = self.root(*input);
                self.roots.insert(*output, root);
            }
            _ => node.uses().for_each(|id| self.count(id)),
        }
    }

    fn root(&self, id: ValueId) -> ValueId {
        self.roots.get(id).copied().unwrap_or(id)
    }

    fn count(&mut self, id: ValueId) {
        let root = self.root(id);
        let count = self.counts.get(root).copied().unwrap_or(0);
        self.counts.insert(root, count + 1);
    }
}
