//! Whether a backend accepts a node.

use std::collections::HashSet;

use et_ops::{Outs, PrimitiveResult};
use etbuild_backend::{Backend, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::{Control, DelegateCall, Graph, Links, Node, ValueId, in_place};

/// A backend's judgement of the nodes of a graph.
pub struct Judge<'a> {
    /// The graph.
    pub links: Links<'a>,
    /// The graph at sample sizes. Empty where the backend computes static sizes only, or where sizes do not follow from the
    /// sizes of the inputs.
    pub samples: Vec<Links<'a>>,
    /// The backend.
    pub backend: &'a dyn Backend,
    /// The target.
    pub target: &'a TargetFacts,
}

impl Judge<'_> {
    /// The reason why the backend refuses the node at `index`; `None` where the backend accepts. Inseparable nodes are refused
    /// without asking the backend.
    pub fn refusal(&self, index: usize) -> Option<Refusal> {
        let graph = self.links.graph;
        let node = graph.nodes.get(index)?;
        let ask = |links: &Links<'_>| self.backend.refusal(links, links.graph.nodes.get(index)?, self.target);
        inseparable(node, self.backend.writes_state()).or_else(|| match &self.samples[..] {
            _ if !is_dynamic(graph, node) => ask(&self.links),
            [] => Some(Refusal::new(RefusalKind::DynamicShape, "a size is dynamic")),
            samples => samples.iter().find_map(ask),
        })
    }
}

/// Whether a size or a number that the node reads or computes is known at run time only.
pub fn is_dynamic(graph: &Graph, node: &Node) -> bool {
    let mut mentioned = node.uses().chain(node.outputs.iter().copied());
    mentioned.any(|id| graph.number(id).is_some() || graph.spec(id).is_dynamic())
}

/// The reason why a node cannot leave its method.
fn inseparable(node: &Node, writes_state: bool) -> Option<Refusal> {
    if Control::of(node).is_some() || node.operator.runs_graphs() {
        return Some(Refusal::new(RefusalKind::Control, "the node is control flow"));
    }
    if node.operator.primitive().is_some() {
        return Some(Refusal::new(RefusalKind::Control, "the node computes with scalars, not tensors"));
    }
    let writes = writes_in_place(node) && (in_place(node).is_empty() || !writes_state);
    writes.then(|| Refusal::new(RefusalKind::Control, "the node writes to an input or to state in place"))
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
