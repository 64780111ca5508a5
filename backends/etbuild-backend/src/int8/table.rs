//! Functions of single elements as tables, computed with the portable kernels.

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, Graph, Node, TensorSpec, ValueKind, evaluate_constant};

use super::pattern::QParams;
use crate::{Refusal, RefusalKind};

/// The int8 result of functions, first to last, for each int8 number from -128 on.
///
/// # Errors
/// A function without a portable kernel.
pub fn table(functions: &[&Node], from: QParams, to: QParams) -> Result<[u8; 256], Refusal> {
    let mut numbers: Vec<f32> = (-128..128).map(|integer| (integer - from.zero) as f32 * from.scale as f32).collect();
    for node in functions {
        let reason = "a function has no table";
        numbers = results(node, &numbers).ok_or_else(|| Refusal::new(RefusalKind::Operator, reason))?;
    }
    let inverse = (1.0 / to.scale) as f32;
    let integer = |number: &f32| {
        let integer = (number * inverse).round_ties_even() + to.zero as f32;
        (integer.clamp(-128.0, 127.0) as i8).cast_unsigned()
    };
    let mut table = [0; 256];
    table.iter_mut().zip(&numbers).for_each(|(entry, number)| *entry = integer(number));
    Ok(table)
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
