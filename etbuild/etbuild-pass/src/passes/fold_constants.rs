//! Evaluates nodes with constant operands only, with the portable kernels. Random operators stay: their numbers are
//! not constants.

use et_core::ScalarType;
use et_ops::Outs;
use et_ops::call::TensorRef;
use etbuild_ir::{ConstantData, Graph, IdMap, Node, ValueId, ValueKind, evaluate};

use crate::pass::Pass;
use crate::{Reason, Refusal};

/// The pass.
pub static PASS: Pass = Pass { name: "fold_constants", purpose: "Evaluates nodes with constant operands only.", run };

/// A result may be this many times as large as its operands ...
const GROWTH: usize = 2;
/// ... plus this many bytes ...
const ALLOWANCE: usize = 4096;
/// ... or plus this fraction of all constants: a folded mask is small beside the weights of a model.
const SHARE: usize = 64;

fn run(mut graph: Graph) -> Result<Graph, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let half_weights = half_weights(&graph);
    let allowance = ALLOWANCE.max(constant_bytes(&graph) / SHARE);
    for node in std::mem::take(&mut graph.nodes) {
        let is_kept = node.outputs.iter().any(|id| half_weights.get(*id).is_some());
        match if is_kept { Ok(false) } else { fold(&mut graph, &node, allowance) } {
            Ok(true) => {}
            Ok(false) => graph.nodes.push(node),
            Err(reason) => refusals.push(Refusal::new(&graph, &node, reason)),
        }
    }
    if refusals.is_empty() { Ok(graph) } else { Err(refusals) }
}

/// The `float32` values of half-precision weights. A conversion that the producer of the program left in place stays:
/// the folded weights would take twice the bytes.
fn half_weights(graph: &Graph) -> IdMap<()> {
    let scalar_type = |id: ValueId| graph.spec(id).scalar_type;
    let is_half =
        |id| graph.constant(id).is_some() && matches!(scalar_type(id), ScalarType::Half | ScalarType::BFloat16);
    let converts = |node: &&Node| node.operator.name() == "_to_dim_order_copy" && node.uses().all(is_half);
    let converted = graph.nodes.iter().filter(converts).flat_map(|node| &node.outputs);
    converted.filter(|id| scalar_type(**id) == ScalarType::Float).map(|id| (*id, ())).collect()
}

/// The number of bytes of all constants.
fn constant_bytes(graph: &Graph) -> usize {
    graph
        .values
        .iter()
        .filter(|value| matches!(value.kind, ValueKind::Constant { .. }))
        .map(|value| value.spec.nbytes())
        .sum()
}

fn foldable(graph: &Graph, node: &Node, allowance: usize) -> bool {
    // Quantized weights stay quantized.
    if node.operator.name().starts_with("dequantize") {
        return false;
    }
    let bytes = |id| graph.spec(id).nbytes();
    let read: usize = node.uses().map(bytes).sum();
    let written: usize = node.outputs.iter().copied().map(bytes).sum();
    let operator = et_ops::find_functional(&node.operator.qualified());
    operator.is_some_and(|operator| operator.outs() != Outs::FirstArgument && !operator.is_random())
        && written <= read * GROWTH + allowance
        && node.uses().all(|id| graph.constant(id).is_some())
}

/// Turns the outputs of `node` into constants; returns whether it did. A node stays if the size of an output depends
/// on elements, since the spec is only a bound.
fn fold(graph: &mut Graph, node: &Node, allowance: usize) -> Result<bool, Reason> {
    if !foldable(graph, node, allowance) {
        return Ok(false);
    }
    let tensors = evaluate(graph, node, |id| constant(graph, id)).map_err(Reason::Failed)?;
    node.uses().filter_map(|id| graph.constant(id)).for_each(ConstantData::release);
    let outputs = || node.outputs.iter().copied().zip(&tensors);
    if outputs().any(|(id, tensor)| graph.spec(id).sizes != tensor.sizes) {
        return Ok(false);
    }
    for (id, tensor) in node.outputs.iter().zip(tensors) {
        let value = graph.values.get_mut(id.index()).ok_or(Reason::Arguments)?;
        let data = ConstantData::new(tensor.bytes);
        value.kind = ValueKind::Constant { qualified_name: data.distinct_name(&value.name), data };
    }
    Ok(true)
}

fn constant(graph: &Graph, id: ValueId) -> TensorRef<'_> {
    let bytes = graph.constant(id).map(ConstantData::bytes).unwrap_or_default();
    TensorRef { scalar_type: graph.spec(id).scalar_type, sizes: &graph.spec(id).sizes, bytes }
}
