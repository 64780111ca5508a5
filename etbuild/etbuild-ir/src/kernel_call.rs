//! The operands of kernel calls: a node's arguments and outputs in the form that kernels take.

use et_core::{Error, Shape};
use et_ops::Meta;
use et_ops::call::{self, TensorRef};

use crate::{Argument, Graph, Node, Size, ValueId};

/// The argument for a kernel. `tensor` gives the tensors of the graph, and `number` the numbers.
pub(crate) fn plain_argument<'a>(
    argument: &'a Argument,
    tensor: impl Fn(ValueId) -> TensorRef<'a>,
    number: impl Fn(ValueId) -> Option<call::Argument<'a>>,
) -> call::Argument<'a> {
    let size = |size: &Size| match size {
        Size::Fixed(value) => *value,
        Size::Value(id) => match number(*id) {
            Some(call::Argument::Int(value)) => value,
            _ => 0,
        },
    };
    match argument {
        Argument::None | Argument::Place | Argument::Graph(_) => call::Argument::None,
        Argument::Value(id) => number(*id).unwrap_or_else(|| call::Argument::Tensor(tensor(*id))),
        Argument::Sizes(sizes) => call::Argument::Ints(sizes.iter().map(size).collect()),
        Argument::Values(ids) => call::Argument::Tensors(ids.iter().map(|id| id.map(&tensor)).collect()),
        Argument::Int(value) => call::Argument::Int(*value),
        Argument::Ints(values) => call::Argument::Ints(values.clone()),
        Argument::Float(value) => call::Argument::Double(*value),
        Argument::Floats(values) => call::Argument::Doubles(values.clone()),
        Argument::Bool(value) => call::Argument::Bool(*value),
        Argument::Bools(values) => call::Argument::Bools(values.clone()),
        Argument::Text(text) => call::Argument::Text(text),
        Argument::Type(scalar_type) => call::Argument::Int(i64::from(*scalar_type as u8)),
        Argument::MemoryFormat(format) => call::Argument::Int(format.number()),
    }
}

/// Types and shapes of the outputs according to the graph. Kernels reject a wrong type or shape.
pub(crate) fn output_metas(graph: &Graph, node: &Node) -> Result<Vec<Meta>, Error> {
    let meta = |id: &ValueId| {
        let spec = graph.spec(*id);
        Ok(Meta { scalar_type: spec.scalar_type, shape: Shape::new(&spec.sizes)? })
    };
    node.outputs.iter().map(meta).collect()
}
