//! KV caches of int8 with static qparams.

use et_core::ScalarType;
use etbuild_ir::{ConstantData, Node, ValueId, ValueKind};

use super::activation::{INT8, back, quantized};
use super::builder::Builder;
use crate::annotate::tensor;
use crate::parameters::Parameters;

/// Lets `node` write integers of `rows` to its KV cache. Returns the KV cache after the write, and its dequantized form; `None` for a
/// node that writes no state.
pub fn write(
    builder: &mut Builder,
    mut node: Node,
    rows: ValueId,
    parameters: Parameters,
) -> Option<(ValueId, ValueId)> {
    let (cache, old, written) = (tensor(&node, 0)?, tensor(&node, 1)?, *node.outputs.first()?);
    let integers = quantized(builder, rows, parameters, INT8);
    node.replace_uses(|id| if id == old { integers } else { id });
    let real = builder.graph.spec(written).clone();
    for id in [cache, written] {
        let value = builder.graph.values.get_mut(id.index())?;
        value.spec.scalar_type = ScalarType::Char;
        if let ValueKind::State { initial, .. } = &mut value.kind {
            // Nothing reads a slot that was not written.
            *initial = ConstantData::new(vec![0; value.spec.nbytes()]);
        }
    }
    builder.graph.nodes.push(node);
    Some((written, back(builder, real, written, parameters, INT8)))
}
