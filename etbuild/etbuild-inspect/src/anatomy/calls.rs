//! The calls of a method, in order.

use std::collections::BTreeSet;

use etbuild_engine::partition::{Layers, StoredValue};
use etbuild_ir::{DelegateCall, Graph, Node};
use serde::Serialize;

/// A node of a planned program.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedCall {
    /// The first output value; empty for a call without outputs.
    pub value: String,
    /// For a call of a backend, the values that the blob's instructions compute: a list for each variant of the blob.
    pub layers: Vec<Vec<String>>,
    /// For a call of a backend, the values that each instruction leaves in memory; empty where the backend does not say.
    #[serde(skip)]
    pub stored: Vec<Vec<StoredValue>>,
}

/// The nodes of a graph without the nodes that compute `views`; calls of backends compute `layers`, and leave `stored` in memory.
pub fn of(
    graph: &Graph,
    views: &BTreeSet<&str>,
    (layers, stored): (Layers, Vec<Vec<Vec<StoredValue>>>),
) -> Vec<PlannedCall> {
    let mut inside = layers.into_iter().zip(stored);
    let value = |node: &Node| node.outputs.first().map(|id| graph.value(*id).name.clone()).unwrap_or_default();
    let mut inside = |node: &Node| DelegateCall::of(node).and_then(|_| inside.next()).unwrap_or_default();
    let calls = graph.nodes.iter().map(|node| {
        let (layers, stored) = inside(node);
        PlannedCall { value: value(node), layers, stored }
    });
    calls.filter(|call| !views.contains(call.value.as_str())).collect()
}
