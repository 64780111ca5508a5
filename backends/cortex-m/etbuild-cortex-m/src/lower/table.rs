//! Functions of single elements as tables, computed with the portable kernels.

use et_core::ScalarType;
use et_cortex_m::Table;
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Argument, ConstantData, Graph, Node, TensorSpec, ValueId, ValueKind, evaluate_constant};

use super::Lowering;
use crate::pattern::no;
use crate::pattern::{Operand, QParams};

impl Lowering<'_> {
    /// Functions of an int8 tensor, first to last; none change the qparams only.
    pub(super) fn table(
        &mut self,
        operand: Operand,
        functions: &[&Node],
        to: ValueId,
        qparams: QParams,
    ) -> Result<(), Refusal> {
        let stored = self.stored(operand.id)?;
        if functions.is_empty() && operand.qparams == qparams {
            self.alias(to, stored);
            return Ok(());
        }
        let mut numbers: Vec<f32> =
            (-128..128).map(|integer| (integer - operand.qparams.zero) as f32 * operand.qparams.scale as f32).collect();
        for node in functions {
            numbers = results(node, &numbers).ok_or_else(|| no(RefusalKind::Operator, "a function has no table"))?;
        }
        let inverse = (1.0 / qparams.scale) as f32;
        let integer = |number: &f32| {
            let integer = (number * inverse).round_ties_even() + qparams.zero as f32;
            (integer.clamp(-128.0, 127.0) as i8).cast_unsigned()
        };
        let table: Vec<u8> = numbers.iter().map(integer).collect();
        let step = Table {
            input: stored.buffer.place(),
            output: self.create(to, stored.order).place(),
            count: self.links.graph.spec(to).numel() as u32,
            table: self.program.constant(&table),
        };
        self.program.emit(step, self.name(to));
        Ok(())
    }
}

/// The results of a function for these numbers; `None` where the portable kernel fails.
fn results(node: &Node, numbers: &[f32]) -> Option<Vec<f32>> {
    let mut graph = Graph::default();
    let spec = TensorSpec::contiguous(ScalarType::Float, [i32::try_from(numbers.len()).ok()?]);
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let kind = ValueKind::Constant { qualified_name: String::new(), data: ConstantData::new(bytes) };
    let input = graph.add_value("x", spec.clone(), kind);
    let output = graph.add_value("y", spec, ValueKind::Computed);
    let mut arguments = node.arguments.clone();
    *arguments.first_mut()? = Argument::Value(input);
    let call = Node { operator: node.operator.clone(), arguments, outputs: vec![output] };
    let data = evaluate_constant(&graph, &call)?;
    Some(data.bytes().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}
