//! What crosses between backends in an execution: the tensors that one writes and another reads.

use std::collections::{BTreeMap, BTreeSet};

use etbuild_engine::partition::{NodePlace, PORTABLE};
use etbuild_ir::{DelegateCall, Graph, IdMap, Program, ValueId, ValueKind, aliases, is_elided};
use serde::Serialize;

use crate::placed_call::placed_calls;

/// The tensors that cross from one place to another. A tensor that two calls read crosses twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Crossing {
    /// The method.
    pub method: String,
    /// What writes the tensors: a partition such as `gpu 0`, `portable`, or the `inputs` or the `state` of the method.
    pub from: String,
    /// What reads the tensors: a partition, `portable`, or the `outputs` or the `state` of the method.
    pub to: String,
    /// The number of tensors.
    pub tensors: usize,
    /// Bytes of the tensors; of dynamic sizes, at most.
    pub bytes: u64,
}

/// The crossings to and from partitions in each method of a partitioned program. Constants cross once, and a state that a partition
/// changes in place crosses never: neither counts.
pub fn crossings(partitioned: &Program, nodes: &[NodePlace]) -> Vec<Crossing> {
    partitioned.methods.iter().flat_map(|(method, graph)| of_method(method, graph, nodes)).collect()
}

const STATE: &str = "state";

fn of_method(method: &str, graph: &Graph, nodes: &[NodePlace]) -> Vec<Crossing> {
    let calls = placed_calls(graph, method, nodes);
    let partitions: BTreeSet<String> = calls.iter().map(|(.., partition)| partition.name()).collect();
    let mut names = calls.into_iter().map(|(_, _, partition)| partition.name());
    let flow = Flow { graph, aliases: aliases(graph) };
    let (mut writers, mut read) = (IdMap::default(), BTreeSet::new());
    for node in graph.nodes.iter().filter(|node| !is_elided(node, &flow.aliases)) {
        let call = DelegateCall::of(node);
        let place = call.and_then(|_| names.next()).unwrap_or_else(|| PORTABLE.to_owned());
        let in_place: Vec<ValueId> = call.iter().flat_map(|call| call.writes_in_place()).map(|pair| pair.0).collect();
        let uses = node.uses().filter(|id| !in_place.contains(id));
        read.extend(uses.filter_map(|id| flow.crossing(&writers, id, &place)));
        node.outputs.iter().for_each(|id| _ = writers.insert(*id, place.clone()));
    }
    let outputs = graph.outputs.iter().filter_map(|id| flow.crossing(&writers, *id, "outputs"));
    let updates = graph.updates.iter().filter_map(|update| flow.crossing(&writers, update.value, STATE));
    read.extend(outputs.chain(updates));
    sums(method, graph, read, &partitions)
}

/// The tensors of a graph.
struct Flow<'g> {
    graph: &'g Graph,
    aliases: IdMap<ValueId>,
}

/// A tensor with the place that writes it and a place that reads it.
type Read = (String, String, ValueId);

impl Flow<'_> {
    /// The crossing of a tensor that a place reads; `None` for constants, for numbers, and for what the same place writes.
    fn crossing(&self, writers: &IdMap<String>, id: ValueId, to: &str) -> Option<Read> {
        let root = self.aliases.get(id).copied().unwrap_or(id);
        let value = self.graph.value(root);
        let from = match value.kind {
            ValueKind::Constant { .. } => return None,
            _ if value.number.is_some() => return None,
            ValueKind::Input => "inputs",
            ValueKind::State { .. } => STATE,
            ValueKind::Computed => writers.get(root)?,
        };
        (from != to).then(|| (from.to_owned(), to.to_owned(), id))
    }
}

/// The sums over tensors between the same places, of which at least one is a partition.
fn sums(method: &str, graph: &Graph, read: BTreeSet<Read>, partitions: &BTreeSet<String>) -> Vec<Crossing> {
    let mut sums: BTreeMap<(String, String), (usize, u64)> = BTreeMap::new();
    for (from, to, id) in
        read.into_iter().filter(|(from, to, _)| [from, to].iter().any(|name| partitions.contains(*name)))
    {
        let sum = sums.entry((from, to)).or_default();
        *sum = (sum.0 + 1, sum.1 + graph.spec(id).nbytes() as u64);
    }
    let crossing = |((from, to), (tensors, bytes))| Crossing { method: method.to_owned(), from, to, tensors, bytes };
    sums.into_iter().map(crossing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(value: &str, engine: &str, partition: Option<usize>) -> NodePlace {
        NodePlace {
            work: 1,
            scalar_type: "float32".to_owned(),
            method: "forward".to_owned(),
            operator: String::new(),
            value: value.to_owned(),
            shape: String::new(),
            reads: Vec::new(),
            module: None,
            engine: Some(engine.to_owned()),
            partition,
            refusals: Vec::new(),
        }
    }

    #[test]
    fn tensors_count_once_for_each_place_that_reads_them_and_states_in_place_never() {
        let program = etbuild_golden::parse(
            "etbuild-ir 1 lowered\nmethod forward\n  input %x: float32[4]\n  state %s: float32[8] = \"s\" ramp(0.0, 1.0)\n  \
             constant %blob: uint8[1] = \"b\" [0]\n  \
             (%a: float32[4], %t: float32[8]) = delegate.gpu.default(%blob, values[%x, %s], [1, 1])\n  \
             %b: float32[4] = aten.add.Tensor(%a, %a, 1)\n  %c: float32[4] = delegate.cpu.default(%blob, values[%a, %b])\n  \
             %d: float32[2] = delegate.gpu.default(%blob, values[%a, %c])\n  update %s %t\n  return %d, %b\n",
        )
        .unwrap();
        let nodes = [
            node("a", "gpu", Some(0)),
            node("b", PORTABLE, None),
            node("c", "cpu", Some(2)),
            node("d", "gpu", Some(1)),
        ];
        let found: Vec<_> = crossings(&program, &nodes)
            .into_iter()
            .map(|crossing| format!("{} to {}: {} {}", crossing.from, crossing.to, crossing.tensors, crossing.bytes))
            .collect();
        let expected = [
            "cpu 2 to gpu 1: 1 16",
            "gpu 0 to cpu 2: 1 16",
            "gpu 0 to gpu 1: 1 16",
            "gpu 0 to portable: 1 16",
            "gpu 1 to outputs: 1 8",
            "inputs to gpu 0: 1 16",
            "portable to cpu 2: 1 16",
        ];
        assert_eq!(found, expected);
    }
}
