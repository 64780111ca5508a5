//! Computing a node on a host, with the portable kernels.

use et_core::{Error, Shape};
use et_ops::Meta;
use et_ops::call::{self, OwnedTensor, TensorRef};

use crate::dialect::plain_argument;
use crate::{ConstantData, Graph, Node, ValueId};

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

/// The first output of a node that reads constants only, row-major like all of them; `None` for other nodes, and where the
/// kernel refuses.
pub fn evaluate_constant(graph: &Graph, node: &Node) -> Option<ConstantData> {
    let is_plain = |id: ValueId| graph.constant(id).is_some() && graph.spec(id).is_contiguous();
    if !node.uses().all(is_plain) {
        return None;
    }
    let tensor = |id: ValueId| {
        let spec = graph.spec(id);
        let bytes = graph.constant(id).map_or(&[][..], ConstantData::bytes);
        TensorRef { scalar_type: spec.scalar_type, sizes: &spec.sizes, bytes }
    };
    let outputs = evaluate(graph, node, tensor).ok()?;
    outputs.into_iter().next().map(|output| ConstantData::new(output.bytes))
}

/// Types and shapes that the graph gives the outputs; a kernel refuses such as it does not compute.
pub(crate) fn output_metas(graph: &Graph, node: &Node) -> Result<Vec<Meta>, Error> {
    let meta = |id: &ValueId| {
        let spec = graph.spec(*id);
        Ok(Meta { scalar_type: spec.scalar_type, shape: Shape::new(&spec.sizes)? })
    };
    node.outputs.iter().map(meta).collect()
}
