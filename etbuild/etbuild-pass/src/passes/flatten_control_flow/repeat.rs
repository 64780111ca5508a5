//! Loops: `while_loop(condition, body, carried, operands)`, `map(body, stacks, operands)` and `scan(body, carried,
//! stacks, operands)`. The first dimension of a stack counts rounds.

use et_core::ScalarType;
use etbuild_ir::{Argument, Control, Graph, Interval, Node, Size, ValueId, ValueKind};

use super::{Flattener, graph, list};
use crate::Reason;

/// The body and the operands of a loop over stacks.
struct Rounds<'a> {
    body: &'a Graph,
    carried: Vec<ValueId>,
    stacks: Vec<ValueId>,
    operands: Vec<ValueId>,
}

impl Flattener {
    pub(super) fn while_loop(&mut self, node: Node) -> Result<(), Reason> {
        let (carried, operands) = (list(&node, 2)?, list(&node, 3)?);
        self.copy_all(&carried, &node.outputs)?;
        let inputs: Vec<ValueId> = node.outputs.iter().copied().chain(operands).collect();
        let (start, end) = (self.new_label(), self.new_label());
        self.control(Control::Label(start));
        let condition = self.inline(graph(&node, 0)?, &inputs)?;
        self.control(Control::JumpIfFalse(*condition.first().ok_or(Reason::Arguments)?, end));
        let results = self.inline(graph(&node, 1)?, &inputs)?;
        self.carry(results, &node.outputs)?;
        self.control(Control::Jump(start));
        self.control(Control::Label(end));
        Ok(())
    }

    pub(super) fn map(&mut self, node: Node) -> Result<(), Reason> {
        let (stacks, operands) = (list(&node, 1)?, list(&node, 2)?);
        self.rounds(&Rounds { body: graph(&node, 0)?, carried: Vec::new(), stacks, operands }, &node.outputs)
    }

    pub(super) fn scan(&mut self, node: Node) -> Result<(), Reason> {
        let (carried, stacks, operands) = (list(&node, 1)?, list(&node, 2)?, list(&node, 3)?);
        self.rounds(&Rounds { body: graph(&node, 0)?, carried, stacks, operands }, &node.outputs)
    }

    /// Runs the body for each row of the stacks. The first results of the body are carried values; the rest are rows
    /// of new stacks.
    fn rounds(&mut self, rounds: &Rounds<'_>, outputs: &[ValueId]) -> Result<(), Reason> {
        let (carried, made) = outputs.split_at_checked(rounds.carried.len()).ok_or(Reason::Arguments)?;
        self.copy_all(&rounds.carried, carried)?;
        let count = self.row_count(*rounds.stacks.first().ok_or(Reason::Arguments)?)?;
        made.iter().try_for_each(|stack| self.empty_stack(*stack, count))?;
        made.iter().for_each(|stack| self.let_grow(*stack));
        let index = self.index(*rounds.stacks.first().ok_or(Reason::Arguments)?);
        self.call("executorch_prim.add.Scalar", vec![Argument::Int(0), Argument::Int(0)], index)?;
        let (start, end) = (self.new_label(), self.new_label());
        self.control(Control::Label(start));
        let goes_on = self.new_number("goes_on", ScalarType::Bool);
        self.call("executorch_prim.lt.Scalar", vec![Argument::Value(index), size_argument(count)], goes_on)?;
        self.control(Control::JumpIfFalse(goes_on, end));
        self.round(rounds, (carried, made), index)?;
        self.call("executorch_prim.add.Scalar", vec![Argument::Value(index), Argument::Int(1)], index)?;
        self.control(Control::Jump(start));
        self.control(Control::Label(end));
        Ok(())
    }

    fn round(
        &mut self,
        rounds: &Rounds<'_>,
        (carried, made): (&[ValueId], &[ValueId]),
        index: ValueId,
    ) -> Result<(), Reason> {
        let mut inputs = carried.to_vec();
        let rows = rounds.body.inputs.get(carried.len()..).unwrap_or_default();
        for (stack, row) in rounds.stacks.iter().zip(rows) {
            let row = self.graph.add_value("row", rounds.body.spec(*row).clone(), ValueKind::Computed);
            let arguments = vec![Argument::Value(*stack), Argument::Int(0), Argument::Value(index)];
            self.call("aten.select_copy.int", arguments, row)?;
            inputs.push(row);
        }
        inputs.extend(&rounds.operands);
        let mut results = self.inline(rounds.body, &inputs)?;
        let new_rows = results.split_off(carried.len().min(results.len()));
        for (stack, row) in made.iter().zip(new_rows) {
            let arguments = vec![Argument::Value(*stack), Argument::Value(row), Argument::Value(index)];
            self.call("executorch_prim.et_copy_index.tensor", arguments, *stack)?;
        }
        self.carry(results, carried)
    }

    /// A number that counts rows of a stack.
    fn index(&mut self, stack: ValueId) -> ValueId {
        let rows = self.graph.spec(stack).sizes.first().copied().unwrap_or(0);
        let range = Interval { least: 0, most: i64::from(rows.max(1)) - 1 };
        self.graph.add_number("round", ScalarType::Long, range, ValueKind::Computed)
    }

    /// The number of rows of a stack.
    fn row_count(&mut self, stack: ValueId) -> Result<Size, Reason> {
        let spec = self.graph.spec(stack);
        match (spec.sizes.first(), spec.least.first()) {
            (Some(most), Some(least)) if most == least => Ok(Size::Fixed(i64::from(*most))),
            (Some(_), _) => {
                let count = self.new_number("rounds", ScalarType::Long);
                self.call("aten.sym_size.int", vec![Argument::Value(stack), Argument::Int(0)], count)?;
                Ok(Size::Value(count))
            }
            _ => Err(Reason::Arguments),
        }
    }

    /// Creates a new stack, which has the final size even without rows.
    fn empty_stack(&mut self, stack: ValueId, count: Size) -> Result<(), Reason> {
        let spec = self.graph.spec(stack).clone();
        if spec.dynamic_dims().any(|dim| dim > 0) {
            return Err(Reason::Dynamic);
        }
        let rest = spec.sizes.iter().skip(1).map(|size| Size::Fixed(i64::from(*size)));
        let sizes = Argument::sizes(std::iter::once(count).chain(rest).collect());
        self.call("aten.full.default", vec![sizes, Argument::Int(0)], stack)
    }

    /// Makes the number of rows dynamic: each round adds a row.
    fn let_grow(&mut self, stack: ValueId) {
        let value = self.graph.values.get_mut(stack.index());
        if let Some(rows) = value.and_then(|value| value.spec.least.first_mut()) {
            *rows = 0;
        }
    }

    fn copy_all(&mut self, from: &[ValueId], to: &[ValueId]) -> Result<(), Reason> {
        if from.len() != to.len() {
            return Err(Reason::Arguments);
        }
        from.iter().zip(to).try_for_each(|(from, to)| self.copy(*from, *to))
    }

    /// Passes the results of a round to the next round. Copies values that would be overwritten before they are read.
    fn carry(&mut self, mut results: Vec<ValueId>, carried: &[ValueId]) -> Result<(), Reason> {
        for (index, result) in results.iter_mut().enumerate() {
            if carried.contains(result) && carried.get(index) != Some(result) {
                let kept = self.graph.value(*result).clone();
                let kept = self.graph.add_like(&etbuild_ir::Value { kind: ValueKind::Computed, ..kept });
                self.copy(*result, kept)?;
                *result = kept;
            }
        }
        let moved = results.into_iter().zip(carried.iter().copied()).filter(|(from, to)| from != to);
        let (from, to): (Vec<_>, Vec<_>) = moved.unzip();
        self.copy_all(&from, &to)
    }
}

const fn size_argument(size: Size) -> Argument {
    match size {
        Size::Fixed(size) => Argument::Int(size),
        Size::Value(id) => Argument::Value(id),
    }
}
