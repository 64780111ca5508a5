//! Computing a node on a host, with the portable kernels.

use et_core::{Error, Shape};
use et_ops::Meta;
use et_ops::call::{self, OwnedTensor, TensorRef};

use crate::dialect::plain_argument;
use crate::{Graph, Node, ValueId};

/// The outputs of `node`, given the row-major elements of the values that it reads. An operator that the catalogue lacks
/// is [`Error::OperatorMissing`].
pub fn evaluate<'a>(
    graph: &'a Graph,
    node: &'a Node,
    elements: impl Fn(ValueId) -> &'a [u8],
) -> Result<Vec<OwnedTensor>, Error> {
    let operator = et_ops::find_functional(&node.operator.qualified()).ok_or(Error::OperatorMissing)?;
    let tensor = |id: ValueId| {
        let spec = graph.spec(id);
        TensorRef { scalar_type: spec.scalar_type, sizes: &spec.sizes, bytes: elements(id) }
    };
    let arguments: Vec<_> = node.arguments.iter().map(|argument| plain_argument(argument, tensor, |_| None)).collect();
    call::call_kernel_for(operator.kernel, &arguments, &metas(graph, node)?)
}

/// Types and shapes that the graph gives the outputs; a kernel refuses such as it does not compute.
fn metas(graph: &Graph, node: &Node) -> Result<Vec<Meta>, Error> {
    let meta = |id: &ValueId| {
        let spec = graph.spec(*id);
        Ok(Meta { scalar_type: spec.scalar_type, shape: Shape::new(&spec.sizes)? })
    };
    node.outputs.iter().map(meta).collect()
}
