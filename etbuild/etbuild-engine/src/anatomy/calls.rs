//! What a method calls, in order.

use std::collections::BTreeSet;

use etbuild_ir::{DelegateCall, Graph, Node};
use serde::Serialize;

use crate::engine_report::Layers;

/// A node of a planned program.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedCall {
    /// The first value that it computes; empty where it computes none.
    pub value: String,
    /// Of a call of an engine, the values that its steps compute: a list for each form that its blob has.
    pub layers: Vec<Vec<String>>,
}

/// The nodes of a graph but for those that compute `views`; its calls of engines compute `layers`.
pub fn of(graph: &Graph, views: &BTreeSet<&str>, layers: Layers) -> Vec<PlannedCall> {
    let mut layers = layers.into_iter();
    let value = |node: &Node| node.outputs.first().map(|id| graph.value(*id).name.clone()).unwrap_or_default();
    let mut inside = |node: &Node| DelegateCall::of(node).and_then(|_| layers.next()).unwrap_or_default();
    let calls = graph.nodes.iter().map(|node| PlannedCall { value: value(node), layers: inside(node) });
    calls.filter(|call| !views.contains(call.value.as_str())).collect()
}
