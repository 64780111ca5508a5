//! The interpreter: runs a graph on the host, node by node, with the portable kernels.

use std::collections::BTreeMap;

use et_core::Error;
use et_ops::call::{OwnedTensor, TensorRef};

use crate::{ConstantData, Graph, IdMap, ValueId, ValueKind, evaluate};

/// Errors of the interpreter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Interruption {
    /// A missing input, or an input of another type or shape.
    #[error("input `{0}` is missing or has another type or shape")]
    Input(String),
    /// A node failed.
    #[error("`{operator}`: {error}")]
    Node {
        /// The operator of the node.
        operator: String,
        /// The error of the kernel.
        error: Error,
    },
    /// An output that no node computes.
    #[error("output `{0}` is not computed")]
    Output(String),
}

/// The outputs of `graph` for the inputs by name.
///
/// # Errors
/// A missing or unfit input, an operator outside the kernel catalogue, an error of a kernel.
pub fn interpret(graph: &Graph, inputs: &BTreeMap<String, OwnedTensor>) -> Result<Vec<OwnedTensor>, Interruption> {
    let mut tensors = IdMap::default();
    for id in &graph.inputs {
        tensors.insert(*id, input(graph, *id, inputs)?.clone());
    }
    for node in &graph.nodes {
        let computed = evaluate(graph, node, |id| tensor(graph, &tensors, id))
            .map_err(|error| Interruption::Node { operator: node.operator.to_string(), error })?;
        node.outputs.iter().zip(computed).for_each(|(id, tensor)| drop(tensors.insert(*id, tensor)));
    }
    graph.outputs.iter().map(|id| output(graph, &tensors, *id)).collect()
}

fn input<'a>(
    graph: &Graph,
    id: ValueId,
    inputs: &'a BTreeMap<String, OwnedTensor>,
) -> Result<&'a OwnedTensor, Interruption> {
    let value = graph.value(id);
    let fits = |tensor: &&OwnedTensor| {
        (tensor.scalar_type, &tensor.sizes) == (value.spec.scalar_type, &value.spec.sizes)
            && tensor.bytes.len() == value.spec.nbytes()
    };
    inputs.get(&value.name).filter(fits).ok_or_else(|| Interruption::Input(value.name.clone()))
}

/// The tensor of a value: computed, or stored in the program. A tensor without elements for values that are neither.
fn tensor<'a>(graph: &'a Graph, tensors: &'a IdMap<OwnedTensor>, id: ValueId) -> TensorRef<'a> {
    let (spec, held) = (graph.spec(id), held(graph, id).map(ConstantData::bytes));
    let other = TensorRef { scalar_type: spec.scalar_type, sizes: &spec.sizes, bytes: held.unwrap_or_default() };
    tensors.get(id).map_or(other, OwnedTensor::as_ref)
}

/// The elements of a constant, or the first value of state.
fn held(graph: &Graph, id: ValueId) -> Option<&ConstantData> {
    match &graph.value(id).kind {
        ValueKind::Constant { data, .. } | ValueKind::State { initial: data, .. } => Some(data),
        ValueKind::Input | ValueKind::Computed => None,
    }
}

fn output(graph: &Graph, tensors: &IdMap<OwnedTensor>, id: ValueId) -> Result<OwnedTensor, Interruption> {
    if tensors.get(id).is_none() && held(graph, id).is_none() {
        return Err(Interruption::Output(graph.value(id).name.clone()));
    }
    let TensorRef { scalar_type, sizes, bytes } = tensor(graph, tensors, id);
    Ok(OwnedTensor { scalar_type, sizes: sizes.to_vec(), bytes: bytes.to_vec() })
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;

    use super::*;
    use crate::{Argument, Node, OperatorName, TensorSpec};

    fn relu() -> Graph {
        let mut graph = Graph::default();
        let spec = TensorSpec::contiguous(ScalarType::Float, [2]);
        let x = graph.add_value("x", spec.clone(), ValueKind::Input);
        let y = graph.add_value("y", spec, ValueKind::Computed);
        let operator = OperatorName::aten("relu", "default");
        graph.nodes.push(Node { operator, arguments: vec![Argument::Value(x)], outputs: vec![y] });
        (graph.inputs, graph.outputs) = (vec![x], vec![y, x]);
        graph
    }

    fn tensor(elements: &[f32]) -> OwnedTensor {
        let bytes = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
        OwnedTensor { scalar_type: ScalarType::Float, sizes: vec![elements.len() as i32], bytes }
    }

    #[test]
    fn outputs_have_the_order_of_the_signature() {
        let inputs = BTreeMap::from([("x".to_owned(), tensor(&[-1.0, 2.0]))]);
        assert_eq!(interpret(&relu(), &inputs), Ok(vec![tensor(&[0.0, 2.0]), tensor(&[-1.0, 2.0])]));
    }

    #[test]
    fn an_input_of_another_shape_is_an_error() {
        let inputs = BTreeMap::from([("x".to_owned(), tensor(&[1.0]))]);
        assert_eq!(interpret(&relu(), &inputs), Err(Interruption::Input("x".into())));
    }
}
