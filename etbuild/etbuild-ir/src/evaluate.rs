//! Computing a node on a host, with the portable kernels.

use et_core::{Error, Shape};
use et_ops::Meta;
use et_ops::call::{self, OwnedTensor, TensorRef};

use crate::dialect::plain_argument;
use crate::{Graph, Node, ValueId};

/// The outputs of `node`, given the row-major tensors that it reads. Where the elements decide how large an output is, it
/// may be smaller than the graph says. An operator that the catalogue lacks is [`Error::OperatorMissing`].
pub fn evaluate<'a>(
    graph: &Graph,
    node: &'a Node,
    tensor: impl Fn(ValueId) -> TensorRef<'a>,
) -> Result<Vec<OwnedTensor>, Error> {
    let operator = et_ops::find_functional(&node.operator.qualified()).ok_or(Error::OperatorMissing)?;
    let arguments = node.arguments.iter().map(|argument| plain_argument(argument, &tensor, |_| None));
    let arguments: Vec<_> = arguments.collect();
    call::call_kernel_for(operator, operator.kernel, &arguments, &output_metas(graph, node)?)
}

/// Types and shapes that the graph gives the outputs; a kernel refuses such as it does not compute.
pub(crate) fn output_metas(graph: &Graph, node: &Node) -> Result<Vec<Meta>, Error> {
    let meta = |id: &ValueId| {
        let spec = graph.spec(*id);
        Ok(Meta { scalar_type: spec.scalar_type, shape: Shape::new(&spec.sizes)? })
    };
    node.outputs.iter().map(meta).collect()
}
