//! The calls of backends in a method, each with the partition that it stands for.

use std::collections::{BTreeMap, BTreeSet};

use etbuild_engine::partition::NodePlace;
use etbuild_ir::{DelegateCall, Graph, Node};

/// The nodes behind a call.
#[derive(Debug)]
pub struct Partition<'n> {
    /// The backend.
    pub engine: &'n str,
    /// The number in the method.
    pub number: usize,
    /// The first outputs of the nodes.
    pub values: BTreeSet<&'n str>,
}

impl Partition<'_> {
    /// The name for people, such as `gpu 0`.
    pub fn name(&self) -> String {
        format!("{} {}", self.engine, self.number)
    }
}

/// The nodes that call backends, in order, with the calls and the partitions of the method.
pub fn placed_calls<'g, 'n>(
    graph: &'g Graph,
    method: &str,
    nodes: &'n [NodePlace],
) -> Vec<(&'g Node, DelegateCall<'g>, Partition<'n>)> {
    let mut partitions = partitions(method, nodes);
    let calls = graph.nodes.iter().filter_map(|node| Some((node, DelegateCall::of(node)?)));
    calls.filter_map(|(node, call)| Some((node, call, take(&mut partitions, graph, &call)?))).collect()
}

/// The partition with a result of a call. A result may be a further output of its node, whose name no place states: then the
/// first partition of the backend.
fn take<'n>(partitions: &mut Vec<Partition<'n>>, graph: &Graph, call: &DelegateCall<'_>) -> Option<Partition<'n>> {
    let has_result = |partition: &Partition<'_>| {
        call.outputs.iter().any(|id| partition.values.contains(graph.value(*id).name.as_str()))
    };
    let found = partitions.iter().position(has_result);
    let found = found.or_else(|| partitions.iter().position(|partition| partition.engine == call.backend))?;
    Some(partitions.remove(found))
}

/// The partitions of a method by number.
fn partitions<'n>(method: &str, nodes: &'n [NodePlace]) -> Vec<Partition<'n>> {
    let mut found: BTreeMap<usize, Partition<'n>> = BTreeMap::new();
    for node in nodes.iter().filter(|node| node.method == method) {
        if let (Some(engine), Some(number)) = (&node.engine, node.partition) {
            let new = || Partition { engine, number, values: BTreeSet::new() };
            found.entry(number).or_insert_with(new).values.insert(&node.value);
        }
    }
    found.into_values().collect()
}
