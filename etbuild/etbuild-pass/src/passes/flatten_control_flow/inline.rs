//! Inlining of nested graphs.

use std::collections::BTreeMap;

use etbuild_ir::{Control, Graph, IdMap, Node, ValueId};

use super::Flattener;
use crate::Reason;

impl Flattener {
    /// Adds the nodes of `nested`, with `operands` as inputs; returns the outputs.
    pub(super) fn inline(&mut self, nested: &Graph, operands: &[ValueId]) -> Result<Vec<ValueId>, Reason> {
        if nested.inputs.len() != operands.len() {
            return Err(Reason::Arguments);
        }
        let moved = self.move_values(nested, operands);
        let now = |id: ValueId| moved.get(id).copied().unwrap_or(id);
        let mut labels = BTreeMap::new();
        for node in &nested.nodes {
            let mut node = self.relabelled(node, &mut labels);
            node.replace_uses(now);
            node.outputs.iter_mut().for_each(|id| *id = now(*id));
            self.graph.nodes.push(node);
        }
        Ok(nested.outputs.iter().copied().map(now).collect())
    }

    /// The node with a fresh label. `labels` maps the labels renamed so far.
    fn relabelled(&mut self, node: &Node, labels: &mut BTreeMap<i64, i64>) -> Node {
        let rename = |label| *labels.entry(label).or_insert_with(|| self.new_label());
        Control::of(node).map_or_else(|| node.clone(), |control| control.with_label(rename).node())
    }

    fn move_values(&mut self, nested: &Graph, operands: &[ValueId]) -> IdMap<ValueId> {
        let mut moved: IdMap<ValueId> = nested.inputs.iter().copied().zip(operands.iter().copied()).collect();
        for (id, value) in nested.values_with_ids() {
            if moved.get(id).is_none() {
                let new = self.graph.add_like(value);
                nested.origins.get(id).map(|origin| self.graph.origins.insert(new, origin.clone()));
                moved.insert(id, new);
            }
        }
        moved
    }
}
