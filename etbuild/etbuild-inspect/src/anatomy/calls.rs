//! The calls of a method, in order.

use etbuild_engine::partition::{Layers, StoredValue};
use etbuild_ir::{Control, DelegateCall, Graph, Node, aliases, is_elided};
use serde::Serialize;

/// An instruction of a planned program.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedCall {
    /// The first output value; empty for an instruction without outputs.
    pub value: String,
    /// For a call of a backend, the values that the blob's instructions compute: a list for each variant of the blob.
    pub layers: Vec<Vec<String>>,
    /// For a call of a backend, the values that each instruction leaves in memory; empty where the backend does not say.
    #[serde(skip)]
    pub stored: Vec<Vec<StoredValue>>,
}

/// The instructions of a graph's program file, in order; calls of backends compute `layers`, and leave `stored` in memory.
pub fn of(graph: &Graph, (layers, stored): (Layers, Vec<Vec<Vec<StoredValue>>>)) -> Vec<PlannedCall> {
    let aliases = aliases(graph);
    // As the writer of program files: views and labels are no instructions.
    let is_instruction = |node: &Node| {
        let is_label = matches!(Control::of(node), Some(Control::Label(_)));
        !is_elided(node, &aliases) && !is_label
    };
    let mut inside = layers.into_iter().zip(stored);
    let value = |node: &Node| node.outputs.first().map(|id| graph.value(*id).name.clone()).unwrap_or_default();
    let mut inside = |node: &Node| DelegateCall::of(node).and_then(|_| inside.next()).unwrap_or_default();
    let calls = graph.nodes.iter().map(|node| {
        let (layers, stored) = inside(node);
        (is_instruction(node), PlannedCall { value: value(node), layers, stored })
    });
    calls.filter_map(|(is_instruction, call)| is_instruction.then_some(call)).collect()
}
