//! `cond(condition, if_true, if_false, operands)`: runs a single branch.

use etbuild_ir::{Argument, Control, Graph, Node, ValueId, ValueKind};

use super::{Flattener, graph, list};
use crate::Reason;

impl Flattener {
    pub(super) fn branch(&mut self, node: Node) -> Result<(), Reason> {
        let operands = list(&node, 3)?;
        let condition = match node.arguments.first() {
            Some(Argument::Value(condition)) => *condition,
            Some(Argument::Bool(known)) => {
                return self.inline_branch(graph(&node, if *known { 1 } else { 2 })?, &operands, &node.outputs);
            }
            _ => return Err(Reason::Arguments),
        };
        let (otherwise, end) = (self.new_label(), self.new_label());
        self.control(Control::JumpIfFalse(condition, otherwise));
        self.inline_branch(graph(&node, 1)?, &operands, &node.outputs)?;
        self.control(Control::Jump(end));
        self.control(Control::Label(otherwise));
        self.inline_branch(graph(&node, 2)?, &operands, &node.outputs)?;
        self.control(Control::Label(end));
        Ok(())
    }

    /// A branch, which writes `outputs`.
    fn inline_branch(&mut self, nested: &Graph, operands: &[ValueId], outputs: &[ValueId]) -> Result<(), Reason> {
        let (first_node, first_value) = (self.graph.nodes.len(), self.graph.values.len());
        let mut results = self.inline(nested, operands)?;
        if results.len() != outputs.len() {
            return Err(Reason::Arguments);
        }
        for (index, to) in outputs.iter().enumerate() {
            let from = results[index];
            let computed = matches!(self.graph.value(from).kind, ValueKind::Computed);
            if computed && from.index() >= first_value {
                self.rename(first_node, from, *to);
                results.iter_mut().for_each(|id| *id = if *id == from { *to } else { *id });
            } else {
                self.copy(from, *to)?;
            }
        }
        Ok(())
    }

    /// Renames `from` to `to` in the nodes from `first` on.
    fn rename(&mut self, first: usize, from: ValueId, to: ValueId) {
        let renamed = |id: ValueId| if id == from { to } else { id };
        for node in self.graph.nodes.get_mut(first..).unwrap_or_default() {
            node.replace_uses(renamed);
            node.outputs.iter_mut().for_each(|id| *id = renamed(*id));
        }
    }
}
