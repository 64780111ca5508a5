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
    let numbers = (-128..128).map(|integer| (integer - from.zero) as f32 * from.scale as f32).collect();
    let numbers = composed(functions, numbers)?;
    let inverse = (1.0 / to.scale) as f32;
    let integer = |number: &f32| {
        let integer = (number * inverse).round_ties_even() + to.zero as f32;
        (integer.clamp(-128.0, 127.0) as i8).cast_unsigned()
    };
    let mut table = [0; 256];
    table.iter_mut().zip(&numbers).for_each(|(entry, number)| *entry = integer(number));
    Ok(table)
}

/// The int16 results of functions for every 128th number from -32768 on, as TensorFlow Lite chooses them: half of the error in the middle
/// between two results moves the first of them.
///
/// # Errors
/// A function without a portable kernel.
pub fn lines(functions: &[&Node], from: QParams, to: QParams) -> Result<Vec<i16>, Refusal> {
    let number = |half: i32| f64::from(64 * half) * from.scale;
    let reals = composed(functions, (-512..=512).map(|half| number(half) as f32).collect())?;
    Ok(sampled(|half| f64::from(reals.get(half).copied().unwrap_or_default()) / to.scale))
}

/// The table of a real function, in steps of the result, of the 1025 ends and middles of 512 lines.
pub fn sampled(function: impl Fn(usize) -> f64) -> Vec<i16> {
    let entry = |line: usize| {
        let [first, middle, last] = [0, 1, 2].map(|half| function(2 * line + half));
        let between = ((last + first.round()) / 2.0).round();
        let error = ((between - middle.round()) / 2.0).round();
        (first.round() - if line < 512 { error } else { 0.0 }).clamp(-32_768.0, 32_767.0) as i16
    };
    (0..=512).map(entry).collect()
}

/// The results of functions, first to last, for these numbers.
fn composed(functions: &[&Node], mut numbers: Vec<f32>) -> Result<Vec<f32>, Refusal> {
    for node in functions {
        let reason = "a function has no table";
        numbers = results(node, &numbers).ok_or_else(|| Refusal::new(RefusalKind::Operator, reason))?;
    }
    Ok(numbers)
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
