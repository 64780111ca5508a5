//! The events of a recording by instruction, with the names that the compilation gave.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use et_module::recording::{Event, MethodFacts, Recording};
use etbuild_backend::Backend;
use etbuild_engine::NodePlace;
use etbuild_inspect::{HostAnatomy, Lines, PlannedCall, UnitAnatomy};
use etbuild_ir::Buffer;
use serde::Serialize;

use crate::engines::BACKENDS;

/// What the compilation says about instructions; empty for a foreign program file.
#[derive(Default)]
pub struct Names<'a> {
    calls: Option<&'a BTreeMap<String, Vec<PlannedCall>>>,
    /// The nodes by method and value.
    nodes: BTreeMap<(&'a str, &'a str), &'a NodePlace>,
    /// The same in order.
    all: &'a [NodePlace],
    lines: Option<&'a Lines>,
}

/// Every instruction of the executed methods, in the order of execution.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Profile {
    /// The methods.
    pub methods: Vec<MethodProfile>,
    /// Events beyond the limit of a recording.
    pub left_out: usize,
}

/// The instructions of a method.
#[derive(Clone, Debug, Serialize)]
pub struct MethodProfile {
    /// The method.
    pub method: String,
    /// The number of executions.
    pub runs: usize,
    /// Milliseconds of an execution, on average.
    pub milliseconds: f64,
    /// The instructions.
    pub rows: Vec<Row>,
}

/// An instruction of a method, or of a delegate.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The operator of a kernel, or the kind of a backend's instruction.
    pub operator: String,
    /// The first value that the instruction computes; empty where that is not known.
    pub value: String,
    /// The module of the model's source.
    pub module: Option<String>,
    /// The line of Python, as `model.py:7: y = self.conv(x)`.
    pub line: Option<String>,
    /// The backend; `portable` for the portable kernels.
    pub backend: String,
    /// The number of the backend's call in the method.
    pub partition: Option<usize>,
    /// The chain, and the instruction of the method in the chain.
    #[serde(skip)]
    pub chain: u32,
    /// The instruction of the method.
    pub instruction: u32,
    /// The number of the backend's instruction in the call.
    pub step: Option<u32>,
    /// The number of executions.
    pub calls: usize,
    /// Milliseconds of all executions.
    pub milliseconds: f64,
    /// Milliseconds of the fastest execution.
    pub least: f64,
    /// Bytes of the results, where known.
    pub bytes: Option<usize>,
}

/// The identity of an instruction: chain, instruction, step.
pub type Key = (u32, u32, Option<u32>);

/// The identity of an event's instruction.
pub fn key(event: &Event) -> Key {
    (event.at.chain, event.at.instruction, event.step.as_ref().map(|(number, _)| *number))
}

impl MethodProfile {
    /// The instructions by identity.
    pub fn by_key(&self) -> BTreeMap<Key, &Row> {
        self.rows.iter().map(|row| ((row.chain, row.instruction, row.step), row)).collect()
    }
}

impl<'a> Names<'a> {
    /// The names of a program for this machine.
    pub fn of_host(anatomy: &'a HostAnatomy) -> Self {
        Self::of(&anatomy.calls, &anatomy.nodes, &anatomy.lines)
    }

    /// The names of a deployed program.
    pub fn of_deploy(anatomy: &'a UnitAnatomy) -> Self {
        Self::of(&anatomy.calls, &anatomy.nodes, &anatomy.lines)
    }

    fn of(calls: &'a BTreeMap<String, Vec<PlannedCall>>, nodes: &'a [NodePlace], lines: &'a Lines) -> Self {
        let mut of_value = BTreeMap::new();
        for node in nodes {
            of_value.entry((node.method.as_str(), node.value.as_str())).or_insert(node);
        }
        Self { calls: Some(calls), nodes: of_value, all: nodes, lines: Some(lines) }
    }

    /// The instructions of a method; empty where these are not known.
    pub fn calls(&self, method: &str) -> &'a [PlannedCall] {
        self.calls.and_then(|calls| calls.get(method)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether a recording is of a program with these instructions, as far as a recording tells.
    pub fn fit(&self, recording: &Recording) -> bool {
        let last = |facts: &MethodFacts| facts.callees.keys().map(|(_, instruction)| *instruction as usize).max();
        let fits = |facts: &MethodFacts| last(facts).is_some_and(|last| last < self.calls(&facts.name).len());
        let names: BTreeSet<&str> = recording.methods.iter().map(|facts| facts.name.as_str()).collect();
        names.len() == recording.methods.len() && recording.methods.iter().all(fits)
    }

    /// The value that an instruction computes; `steps` is the number of instructions in the call of the backend.
    fn value(&self, method: &str, (_, instruction, step): Key, steps: usize) -> Option<String> {
        let call = self.calls?.get(method)?.get(instruction as usize)?;
        let Some(step) = step else { return Some(call.value.clone()) };
        let form = call.layers.iter().find(|form| form.len() == steps)?;
        form.get(step as usize).cloned()
    }

    /// The node that computes a value.
    pub fn node(&self, method: &str, value: &str) -> Option<&'a NodePlace> {
        self.nodes.get(&(method, value)).copied()
    }

    /// The value that a dequantized value stands for; the value itself where it is not quantized at once.
    pub fn float<'v>(&self, method: &'v str, value: &'v str) -> &'v str
    where
        'a: 'v,
    {
        let of = |node: &NodePlace, kind: &str| {
            let is_kind = node.operator.contains(kind);
            node.reads.first().filter(|_| is_kind).and_then(|position| self.node_at(method, *position))
        };
        let quantize = self.node(method, value).and_then(|node| of(node, "dequantize_per_"));
        quantize.and_then(|node| of(node, ".quantize_per_")).map_or(value, |node| &node.value)
    }

    /// The node at a position of a method.
    fn node_at(&self, method: &str, position: usize) -> Option<&'a NodePlace> {
        self.all.iter().filter(|node| node.method == method).nth(position)
    }

    /// The archive of a method, where there is one.
    pub fn archive(&self, method: &str) -> Option<Arc<dyn Buffer>> {
        self.lines?.archive(method)
    }

    /// The line of Python that computes a value.
    pub fn line(&self, method: &str, value: &str) -> Option<String> {
        Some(self.lines?.line(method, value)?.to_string())
    }
}

impl Profile {
    /// The profile of a recording.
    pub fn of(recording: &Recording, names: &Names<'_>) -> Self {
        let methods = (0..).zip(&recording.methods).map(|(index, facts)| of_method(recording, index, facts, names));
        Self { methods: methods.filter(|method| method.runs > 0).collect(), left_out: recording.left_out }
    }
}

fn of_method(recording: &Recording, index: usize, facts: &MethodFacts, names: &Names<'_>) -> MethodProfile {
    let runs: Vec<_> = recording.runs.iter().filter(|run| run.method == index).collect();
    let mut order: Vec<Key> = Vec::new();
    let mut times: BTreeMap<Key, (usize, u64, u64, Option<&str>)> = BTreeMap::new();
    for event in runs.iter().flat_map(|run| &run.events) {
        let (key, time) = (key(event), event.end.saturating_sub(event.begin));
        let sum = times.entry(key).or_insert_with(|| {
            order.push(key);
            (0, 0, u64::MAX, event.step.as_ref().map(|(_, kind)| &**kind))
        });
        *sum = (sum.0 + 1, sum.1.saturating_add(time), sum.2.min(time), sum.3);
    }
    let mut counts: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for key in times.keys().filter(|key| key.2.is_some()) {
        *counts.entry((key.0, key.1)).or_default() += 1;
    }
    let steps = |key: Key| counts.get(&(key.0, key.1)).copied().unwrap_or_default();
    let partition = partitions(facts);
    let inside = order.iter().filter(|key| key.2.is_some() || steps(**key) == 0);
    let row = |key: &Key| {
        let (calls, sum, least, kind) = times.get(key).copied().unwrap_or_default();
        let callee = facts.callees.get(&(key.0, key.1)).cloned().unwrap_or_default();
        let backend = backend(&callee);
        let value = names.value(&facts.name, *key, steps(*key)).unwrap_or_default();
        Row {
            operator: kind.map_or_else(|| callee.clone(), str::to_owned),
            module: names.node(&facts.name, &value).and_then(|node| node.module.clone()),
            line: names.line(&facts.name, &value),
            value,
            backend: backend.map_or("portable", Backend::name).to_owned(),
            partition: partition.get(&(key.0, key.1)).copied(),
            chain: key.0,
            instruction: key.1,
            step: key.2,
            calls,
            milliseconds: milliseconds(sum),
            least: milliseconds(least),
            bytes: facts.bytes.get(key).copied().filter(|bytes| *bytes > 0),
        }
    };
    let rows = inside.filter(|key| facts.callees.get(&(key.0, key.1)).is_some_and(|callee| !callee.is_empty()));
    let rows = rows.map(row).collect();
    let lengths = runs.iter().map(|run| run.end.saturating_sub(run.begin));
    let whole = lengths.fold(0, u64::saturating_add);
    let milliseconds = milliseconds(whole) / runs.len().max(1) as f64;
    MethodProfile { method: facts.name.clone(), runs: runs.len(), milliseconds, rows }
}

/// The numbers of the calls of backends, by chain and instruction.
fn partitions(facts: &MethodFacts) -> BTreeMap<(u32, u32), usize> {
    let calls = facts.callees.iter().filter(|(_, callee)| backend(callee).is_some());
    calls.zip(0..).map(|((key, _), number)| (*key, number)).collect()
}

/// The backend of a delegate.
fn backend(callee: &str) -> Option<&'static dyn Backend> {
    BACKENDS.iter().find(|backend| backend.delegate_id() == callee).copied()
}

pub fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}
