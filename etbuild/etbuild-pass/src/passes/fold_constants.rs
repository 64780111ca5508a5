//! Computes nodes that read nothing but constants, with the portable kernels.

use et_core::ScalarType;
use et_ops::Outs;
use et_ops::call::TensorRef;
use etbuild_ir::{ConstantData, Graph, IdMap, Node, ValueId, ValueKind, evaluate};

use crate::pass::Pass;
use crate::{Reason, Refusal};

/// The pass.
pub static PASS: Pass =
    Pass { name: "fold_constants", purpose: "Computes nodes that read nothing but constants.", run };

/// Results may be this many times as large as what they are computed from ...
const GROWTH: usize = 2;
/// ... and larger by this many bytes ...
const ALLOWANCE: usize = 4096;
/// ... or by this part of what all constants take: a mask that is folded is nothing beside a model's weights.
const SHARE: usize = 64;

fn run(mut graph: Graph) -> Result<Graph, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let halves = halves(&graph);
    let allowance = ALLOWANCE.max(constant_bytes(&graph) / SHARE);
    for node in std::mem::take(&mut graph.nodes) {
        let is_kept = node.outputs.iter().any(|id| halves.get(*id).is_some());
        match if is_kept { Ok(false) } else { fold(&mut graph, &node, allowance) } {
            Ok(true) => {}
            Ok(false) => graph.nodes.push(node),
            Err(reason) => refusals.push(Refusal::new(&graph, &node, reason)),
        }
    }
    if refusals.is_empty() { Ok(graph) } else { Err(refusals) }
}

/// What weights in half precision are as `float32`. Whoever left them so, with a node that converts them, wants to read them
/// as they are: folded, they would take twice as much.
fn halves(graph: &Graph) -> IdMap<()> {
    let scalar_type = |id: ValueId| graph.spec(id).scalar_type;
    let is_half =
        |id| graph.constant(id).is_some() && matches!(scalar_type(id), ScalarType::Half | ScalarType::BFloat16);
    let converts = |node: &&Node| node.operator.name() == "_to_dim_order_copy" && node.uses().all(is_half);
    let converted = graph.nodes.iter().filter(converts).flat_map(|node| &node.outputs);
    converted.filter(|id| scalar_type(**id) == ScalarType::Float).map(|id| (*id, ())).collect()
}

/// What all constants take.
fn constant_bytes(graph: &Graph) -> usize {
    graph
        .values
        .iter()
        .filter(|value| matches!(value.kind, ValueKind::Constant { .. }))
        .map(|value| value.spec.nbytes())
        .sum()
}

fn foldable(graph: &Graph, node: &Node, allowance: usize) -> bool {
    // Weights were quantized to be stored so.
    if node.operator.name().starts_with("dequantize") {
        return false;
    }
    let bytes = |id| graph.spec(id).nbytes();
    let read: usize = node.uses().map(bytes).sum();
    let written: usize = node.outputs.iter().copied().map(bytes).sum();
    let operator = et_ops::find_functional(&node.operator.qualified());
    operator.is_some_and(|operator| operator.outs() != Outs::FirstArgument)
        && written <= read * GROWTH + allowance
        && node.uses().all(|id| graph.constant(id).is_some())
}

/// Makes the outputs of `node` constants and says whether it did. Where the elements decide how large an output is, the
/// graph gives only a bound, and the node stays.
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
