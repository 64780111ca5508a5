//! Graphs as text: inputs and constants, then an operator per line.

use std::fmt;

use super::operation::Value;
use super::{Array, Graph, Operator, Tensor, TensorId};

/// Constants with more elements are printed by their number of elements only.
const MOST_PRINTED: usize = 8;

impl fmt::Display for Graph {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for id in &self.inputs {
            writeln!(formatter, "input {}", declared(self.get(*id)))?;
        }
        for tensor in self.tensors.iter().filter(|tensor| tensor.data.is_some()) {
            writeln!(formatter, "constant {} = {}", declared(tensor), elements(tensor))?;
        }
        for operator in &self.operators {
            writeln!(formatter, "{}", call(self, operator))?;
        }
        writeln!(formatter, "return {}", names(self, &self.outputs))
    }
}

fn declared(Tensor { name, kind, sizes, .. }: &Tensor) -> String {
    format!("%{name}: {}{sizes:?}", kind.name())
}

fn names(graph: &Graph, ids: &[TensorId]) -> String {
    ids.iter().map(|id| format!("%{}", graph.get(*id).name)).collect::<Vec<_>>().join(", ")
}

fn elements(tensor: &Tensor) -> String {
    let array = Array::of_bytes(tensor.kind, &tensor.sizes, tensor.data.as_deref().unwrap_or_default());
    let numbers = array.map(|array| array.numbers).unwrap_or_default();
    match numbers.len() {
        0..=MOST_PRINTED => format!("{numbers:?}"),
        // The sum distinguishes tensors of equal size.
        count => format!("{count} elements of sum {}", numbers.iter().sum::<i64>()),
    }
}

fn call(graph: &Graph, Operator { operation, inputs, output }: &Operator) -> String {
    let attributes = operation.attributes();
    let attributes = attributes.iter().map(|(field, value)| format!(" {}={}", field.name, printed(value)));
    let (output, inputs) = (declared(graph.get(*output)), names(graph, inputs));
    format!("{output} = {}({inputs}){}", operation.code().name, attributes.collect::<String>())
}

fn printed(value: &Value) -> String {
    match value {
        Value::Integers(numbers) => format!("{numbers:?}"),
        Value::Integer(number) => number.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Flag(flag) => flag.to_string(),
        Value::Bytes(bytes) => format!("{:?}", bytes.iter().map(|byte| byte.cast_signed()).collect::<Vec<_>>()),
    }
}
