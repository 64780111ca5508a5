//! Whether a backend accepts a node.

use std::collections::HashSet;

use et_ops::{Outs, PrimitiveResult};
use etbuild_backend::{Backend, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::{Control, DelegateCall, Graph, Links, Node, ValueId, in_place};

/// The reason why the backend refuses the node; `None` where the backend accepts. Inseparable nodes are refused without asking
/// the backend.
pub fn refusal(links: &Links<'_>, node: &Node, backend: &dyn Backend, target: &TargetFacts) -> Option<Refusal> {
    inseparable(links.graph, node, backend.writes_state()).or_else(|| backend.refusal(links, node, target))
}

/// The reason why a node cannot leave its method.
fn inseparable(graph: &Graph, node: &Node, writes_state: bool) -> Option<Refusal> {
    if Control::of(node).is_some() || node.operator.runs_graphs() {
        return Some(Refusal::new(RefusalKind::Control, "the node is control flow"));
    }
    if node.operator.primitive().is_some() {
        return Some(Refusal::new(RefusalKind::Control, "the node computes with scalars, not tensors"));
    }
    if writes_in_place(node) && (in_place(node).is_empty() || !writes_state) {
        return Some(Refusal::new(RefusalKind::Control, "the node writes to an input or to state in place"));
    }
    let mut mentioned = node.uses().chain(node.outputs.iter().copied());
    let moving = mentioned.any(|id| graph.number(id).is_some() || graph.spec(id).is_dynamic());
    moving.then(|| Refusal::new(RefusalKind::DynamicShape, "a size is dynamic"))
}

/// Whether the node is a delegate call.
pub fn is_delegated(node: &Node) -> bool {
    DelegateCall::of(node).is_some()
}

/// The nodes that no node may move across: jumps, writes that no value stands for, and nodes whose value
/// another node computes too.
pub fn boundaries(graph: &Graph) -> Vec<bool> {
    let again = computed_again(graph);
    let is_boundary = |node: &Node| {
        let writes = writes_in_place(node) && in_place(node).is_empty();
        let stays = Control::of(node).is_some() || node.operator.runs_graphs() || writes;
        stays || node.outputs.iter().any(|id| again.contains(id))
    };
    graph.nodes.iter().map(is_boundary).collect()
}

fn writes_in_place(node: &Node) -> bool {
    if node.outputs.is_empty() {
        return true;
    }
    match node.operator.primitive() {
        Some(primitive) => primitive.result == PrimitiveResult::Tensor,
        None => {
            let operator = et_ops::find_functional(&node.operator.qualified());
            operator.is_some_and(|operator| operator.outs() == Outs::FirstArgument)
        }
    }
}

fn computed_again(graph: &Graph) -> HashSet<ValueId> {
    let mut seen = HashSet::new();
    let computed = graph.nodes.iter().flat_map(|node| node.outputs.iter().copied());
    computed.filter(|id| !seen.insert(*id)).collect()
}
