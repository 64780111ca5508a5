//! Evaluation of a node on the host, with the portable kernels.

use et_core::Error;
use et_ops::call::{self, OwnedTensor, TensorRef};

use crate::kernel_call::{output_metas, plain_argument};
use crate::{ConstantData, Graph, Node, ValueId};

/// The outputs of `node` for row-major operands. Where the size of an output depends on elements, the output may be
/// smaller than the spec. An operator outside the catalogue is [`Error::OperatorMissing`].
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

/// The first output of a node with only row-major constant operands; `None` for other nodes, and where the kernel
/// fails.
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
