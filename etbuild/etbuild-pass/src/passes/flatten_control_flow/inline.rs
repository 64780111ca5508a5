//! Adding the nodes of a nested graph to the line.

use etbuild_ir::{Graph, IdMap, ValueId};

use super::Flattener;
use crate::Reason;

impl Flattener {
    /// Adds the nodes of `nested` with `operands` as its inputs; returns its outputs.
    pub(super) fn inline(&mut self, nested: &Graph, operands: &[ValueId]) -> Result<Vec<ValueId>, Reason> {
        if nested.inputs.len() != operands.len() {
            return Err(Reason::Arguments);
        }
        let moved = self.move_values(nested, operands);
        let now = |id: ValueId| moved.get(id).copied().unwrap_or(id);
        for node in &nested.nodes {
            let mut node = node.clone();
            node.replace_uses(now);
            node.outputs.iter_mut().for_each(|id| *id = now(*id));
            self.node(node)?;
        }
        Ok(nested.outputs.iter().copied().map(now).collect())
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
