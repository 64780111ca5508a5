//! Which nodes an engine takes.

use std::collections::HashSet;

use et_ops::{Outs, PrimitiveResult};
use etbuild_backend::{Backend, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::{Control, DelegateCall, Graph, Links, Node, ValueId, in_place};

/// Why the engine does not take the node; `None` where it does. Nodes that no engine can take are not shown to it.
pub fn refusal(links: &Links<'_>, node: &Node, backend: &dyn Backend, target: &TargetFacts) -> Option<Refusal> {
    inseparable(links.graph, node).or_else(|| backend.refusal(links, node, target))
}

/// Why a node cannot be taken out of its method.
fn inseparable(graph: &Graph, node: &Node) -> Option<Refusal> {
    if Control::of(node).is_some() || node.operator.runs_graphs() {
        return Some(Refusal::new(RefusalKind::Control, "the node steers the method"));
    }
    if node.operator.primitive().is_some() {
        return Some(Refusal::new(RefusalKind::Control, "the node computes with numbers"));
    }
    if writes_in_place(node) {
        return Some(Refusal::new(RefusalKind::Control, "the node writes to memory that stays"));
    }
    let mut mentioned = node.uses().chain(node.outputs.iter().copied());
    let moving = mentioned.any(|id| graph.number(id).is_some() || graph.spec(id).is_dynamic());
    moving.then(|| Refusal::new(RefusalKind::DynamicShape, "a size is known at run time only"))
}

/// Whether the node is a call of an engine.
pub fn is_delegated(node: &Node) -> bool {
    DelegateCall::of(node).is_some()
}

/// Nodes that others must not be moved across: they jump, write to memory in a way that values do not tell, or compute what
/// another node computes as well.
pub fn boundaries(graph: &Graph) -> Vec<bool> {
    let again = computed_again(graph);
    let is_boundary = |node: &Node| {
        let writes = writes_in_place(node) && in_place(node).is_none();
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
