//! What a method calls, in order.

use etbuild_ir::{DelegateCall, Graph, Node};
use serde::Serialize;

/// A node of a planned program.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedCall {
    /// The first value that it computes; empty where it computes none.
    pub value: String,
    /// Of a call of an engine, the values that its steps compute: a list for each form that its blob has.
    pub layers: Vec<Vec<String>>,
}

/// The nodes of a graph whose calls of engines compute `layers`.
pub fn of(graph: &Graph, layers: Vec<Vec<Vec<String>>>) -> Vec<PlannedCall> {
    let mut layers = layers.into_iter();
    let value = |node: &Node| node.outputs.first().map(|id| graph.value(*id).name.clone()).unwrap_or_default();
    let mut inside = |node: &Node| DelegateCall::of(node).and_then(|_| layers.next()).unwrap_or_default();
    graph.nodes.iter().map(|node| PlannedCall { value: value(node), layers: inside(node) }).collect()
}
