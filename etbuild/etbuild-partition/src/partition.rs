//! Partitioning of a program for several backends.

use std::collections::{BTreeMap, HashSet};

use et_core::ScalarType;
use etbuild_backend::{
    Backend, Blob, DeviceReport, Refusal, RefusalKind, Stored, TargetFacts, Weights, dequantizes_constants,
};
use etbuild_ir::{
    ConstantData, DelegateCall, Digest, Graph, IdMap, Links, LoweredProgram, Node, TensorSpec, ValueId, ValueKind,
    Violation, compact, stepped_states,
};

use crate::carve::{Carved, carve, escaping};
use crate::dequantized::Dequantized;
use crate::gather::{Gathered, gather};
use crate::judge::{Judge, is_delegated, is_dynamic};
use crate::keep::Keep;
use crate::order::{Step, order};
use crate::readers::Readers;
use crate::report::{NodeReport, Place, portable};
use crate::samples::samples;
use crate::split::split;
use crate::tied::mark_tied_tables;

/// A program with delegate calls.
#[derive(Clone, Debug)]
pub struct Partitioned {
    /// The program.
    pub program: LoweredProgram,
    /// The report of every node of the original program: methods by name, nodes in order.
    pub report: Vec<NodeReport>,
    /// The value that each instruction of a call computes, from [`Blob::layers`]; methods by name, calls in order.
    pub layers: Vec<Vec<Vec<String>>>,
    /// The values that each instruction of a call leaves in memory, from [`Blob::stored`]; in the same order.
    pub stored: Vec<Vec<Vec<Stored>>>,
    /// What devices do with each call, from [`Blob::device`]; in the same order.
    pub devices: Vec<DeviceReport>,
    /// The name of the model constant behind each packed weight, by the digest of the packed weight.
    pub origins: BTreeMap<Digest, String>,
}

/// Partitions a program for `backends`, in order of preference. `keep` stores the packed weights.
///
/// # Errors
/// The partitioned program is invalid: a fault of a backend or of this crate.
pub fn partition(
    program: LoweredProgram,
    backends: &[&dyn Backend],
    target: &TargetFacts,
    keep: &dyn Keep,
) -> Result<Partitioned, Vec<Violation>> {
    let mut program = program.into_program();
    mark_tied_tables(&mut program);
    let (mut report, mut inside, mut origins) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (name, graph) in &mut program.methods {
        let mut method = Method::new(name, std::mem::take(graph));
        backends.iter().for_each(|backend| method.delegate(*backend, target, keep));
        *graph = method.graph;
        report.extend(method.reports);
        inside.extend(in_order(graph, method.calls));
        add(&mut origins, method.origins);
    }
    let (mut layers, mut stored, mut devices) = (Vec::new(), Vec::new(), Vec::new());
    for call in inside {
        layers.push(call.layers);
        stored.push(call.stored);
        devices.push(call.device);
    }
    Ok(Partitioned { program: LoweredProgram::verify(program)?, report, layers, stored, devices, origins })
}

/// A method during partitioning.
struct Method {
    graph: Graph,
    /// The report of each node of the graph; `None` for delegate calls.
    places: Vec<Option<usize>>,
    reports: Vec<NodeReport>,
    /// The number of partitions so far.
    count: usize,
    /// What the backend says of each call, by the name of the call's first output.
    calls: BTreeMap<String, Inside>,
    origins: BTreeMap<Digest, String>,
}

/// The accepted nodes that dequantize weights of refused nodes only: other backends pack integers, which they know as constants.
fn unread_weights(links: &Links<'_>, taken: &[bool]) -> Vec<usize> {
    let nodes = links.graph.nodes.iter().zip(taken).enumerate();
    let accepted = nodes.clone().filter(|(_, (_, taken))| **taken);
    let read: HashSet<ValueId> =
        accepted.clone().flat_map(|(_, (node, _))| node.uses()).chain(links.graph.results()).collect();
    let is_unread =
        |node: &Node| dequantizes_constants(links, node) && !node.outputs.iter().any(|id| read.contains(id));
    accepted.filter(|(_, (node, _))| is_unread(node)).map(|(index, _)| index).collect()
}

/// What the backend says of a call.
#[derive(Default)]
struct Inside {
    layers: Vec<Vec<String>>,
    stored: Vec<Vec<Stored>>,
    device: DeviceReport,
}

/// What backends say of the calls of a graph, in the order of the calls: backends were asked one after the other.
fn in_order(graph: &Graph, mut calls: BTreeMap<String, Inside>) -> Vec<Inside> {
    let calls_of_graph = graph.nodes.iter().filter(|node| DelegateCall::of(node).is_some());
    let name = |node: &Node| node.outputs.first().map(|id| graph.value(*id).name.as_str()).unwrap_or_default();
    calls_of_graph.map(|node| calls.remove(name(node)).unwrap_or_default()).collect()
}

/// What partitions share with the rest of a graph.
struct Outside {
    /// The values that are read outside of the partition that computes the value.
    escaping: HashSet<ValueId>,
    /// The states that the backend steps in place, by their new values.
    stepped: IdMap<ValueId>,
    /// The partitions that are the only readers of values.
    readers: Readers,
    /// The nodes of which each partition has a copy.
    copied: Dequantized,
}

/// A lowered partition.
struct Lowered {
    nodes: Vec<usize>,
    call: Node,
}

impl Method {
    fn new(name: &str, graph: Graph) -> Self {
        let reports = portable(name, &graph);
        Self {
            places: (0..reports.len()).map(Some).collect(),
            graph,
            reports,
            count: 0,
            calls: BTreeMap::new(),
            origins: BTreeMap::new(),
        }
    }

    /// Partitions the remaining nodes for one backend.
    fn delegate(&mut self, backend: &dyn Backend, target: &TargetFacts, keep: &dyn Keep) {
        let samples = if backend.has_dynamic_sizes() { samples(&self.graph) } else { Vec::new() };
        let taken = self.judge(&samples, backend, target);
        let Gathered { stretches, partitions, dropped } = gather(&self.graph, &taken);
        let reason =
            Refusal::new(RefusalKind::Gain, "the partition has only views, and a call costs more than the views");
        self.refuse(&dropped, backend, &reason);
        let partitions = split(&self.graph, partitions, backend, target);
        let copied =
            if backend.copies_dequantization() { Dequantized::of(&self.graph) } else { Dequantized::default() };
        let outside = Outside {
            escaping: escaping(&self.graph, &partitions, &copied),
            stepped: if backend.steps_states() { stepped_states(&self.graph) } else { IdMap::default() },
            readers: Readers::of(&self.graph, &partitions, &copied),
            copied,
        };
        let mut lowered = Vec::new();
        for (partition, nodes) in partitions.into_iter().enumerate() {
            match self.lower((partition, &nodes), &outside, &samples, (backend, target), keep) {
                Ok(Some(call)) => lowered.push(Lowered { nodes, call }),
                Ok(None) => {}
                Err(reason) => self.refuse(&nodes, backend, &reason),
            }
        }
        if !lowered.is_empty() {
            self.replace(lowered, &stretches, backend);
        }
    }

    /// Whether the backend accepts each node. The reports record the reasons for refusals.
    fn judge(&mut self, samples: &[Graph], backend: &dyn Backend, target: &TargetFacts) -> Vec<bool> {
        let mut taken = vec![false; self.graph.nodes.len()];
        // The checks of a node read the kinds of its operands, and few of them a size: the first and the last sample are enough.
        let asked = [samples.first(), samples.last()].into_iter().flatten().map(Links::of).collect();
        let judge = Judge { links: Links::of(&self.graph), samples: asked, backend, target };
        for (index, _) in self.graph.nodes.iter().enumerate().filter(|(_, node)| !is_delegated(node)) {
            match judge.refusal(index) {
                None => taken[index] = true,
                Some(reason) => note(&mut self.reports, self.places[index], backend, reason),
            }
        }
        let left = unread_weights(&judge.links, &taken);
        let reason = Refusal::new(RefusalKind::Gain, "the operators that read these weights are not in the partition");
        left.iter().for_each(|index| taken[*index] = false);
        self.refuse(&left, backend, &reason);
        taken
    }

    fn refuse(&mut self, nodes: &[usize], backend: &dyn Backend, reason: &Refusal) {
        nodes.iter().for_each(|node| note(&mut self.reports, self.places[*node], backend, reason.clone()));
    }

    /// The delegate call for a partition; `None` where no node outside reads the results.
    fn lower(
        &mut self,
        (partition, nodes): (usize, &[usize]),
        outside: &Outside,
        samples: &[Graph],
        (backend, target): (&dyn Backend, &TargetFacts),
        keep: &dyn Keep,
    ) -> Result<Option<Node>, Refusal> {
        let escapes = |id| outside.escaping.contains(&id);
        let Carved { graph, mut inputs, mut outputs, writes } =
            carve(&self.graph, nodes, escapes, &outside.stepped, &outside.copied);
        if outputs.is_empty() {
            return Ok(None);
        }
        let blob = if nodes.iter().any(|node| is_dynamic(&self.graph, &self.graph.nodes[*node])) {
            // A blob computes its sizes from the tensors, so that the call takes no numbers.
            inputs.retain(|id| self.graph.number(*id).is_none());
            let samples: Vec<Graph> = samples
                .iter()
                .map(|sample| carve(sample, nodes, escapes, &outside.stepped, &outside.copied).graph)
                .collect();
            backend.lower_dynamic(&samples, &graph, target)?
        } else {
            backend.lower_over(&graph, &outside.readers.ended(partition, &inputs), target)?
        };
        let Blob { bytes, scratch, weights, layers, stored, device } = blob;
        let first = outputs.first().map(|id| self.graph.value(*id).name.clone()).unwrap_or_default();
        inputs.extend(self.weights(&weights, backend, keep)?);
        graph.for_each_data(&mut ConstantData::release);
        let spec = memory(bytes.len(), "blob")?;
        if scratch > 0 {
            let scratch = memory(scratch, "scratch")?;
            outputs.push(self.graph.add_value(&format!("{}_scratch", backend.name()), scratch, ValueKind::Computed));
        }
        let kind = ValueKind::Constant { qualified_name: String::new(), data: ConstantData::new(bytes) };
        let blob = self.graph.add_value(&format!("{}_blob", backend.name()), spec, kind);
        let call = DelegateCall::node(backend.name(), blob, &inputs, outputs, writes);
        let call =
            call.ok_or_else(|| Refusal::new(RefusalKind::Partition, "the backend's name is not an operator name"))?;
        self.calls.insert(first, Inside { layers, stored, device });
        Ok(Some(call))
    }

    /// The packed weights of a partition as constants.
    fn weights(
        &mut self,
        weights: &[Weights],
        backend: &dyn Backend,
        keep: &dyn Keep,
    ) -> Result<Vec<ValueId>, Refusal> {
        let kept = keep.keep(weights)?;
        let made_of = |(made, data): (&Weights, &ConstantData)| Some((data.digest(), made.origin.clone()?));
        add(&mut self.origins, weights.iter().zip(&kept).filter_map(made_of));
        let constant = |(made, data): (&Weights, ConstantData)| {
            let spec = memory(data.bytes().len(), "weight")?;
            let qualified_name = made.name.clone().unwrap_or_else(|| data.distinct_name(backend.name()));
            let kind = ValueKind::Constant { qualified_name, data };
            Ok(self.graph.add_value(&format!("{}_weights", backend.name()), spec, kind))
        };
        weights.iter().zip(kept).map(constant).collect()
    }

    /// Replaces the nodes of lowered partitions by calls.
    fn replace(&mut self, lowered: Vec<Lowered>, stretches: &[usize], backend: &dyn Backend) {
        let partitions: Vec<&[usize]> = lowered.iter().map(|lowered| &*lowered.nodes).collect();
        let steps = order(&self.graph, stretches, &partitions);
        for node in
            partitions.iter().enumerate().flat_map(|(index, nodes)| nodes.iter().map(move |node| (index, *node)))
        {
            if let (index, Some(report)) = (node.0, self.places[node.1]) {
                self.reports[report].place = Place::Backend(backend.name(), self.count + index);
            }
        }
        self.count += partitions.len();
        let mut graph = std::mem::take(&mut self.graph);
        let nodes = std::mem::take(&mut graph.nodes);
        let step = |step: &Step| match step {
            Step::Node(index) => (nodes[*index].clone(), self.places[*index]),
            Step::Partition(index) => (lowered[*index].call.clone(), None),
        };
        let (nodes, places) = steps.iter().map(step).unzip();
        (self.graph, self.places) = (compact(graph, nodes), places);
    }
}

fn note(reports: &mut [NodeReport], report: Option<usize>, backend: &dyn Backend, reason: Refusal) {
    if let Some(report) = report {
        reports[report].refusals.push((backend.name(), reason));
    }
}

/// Equal packed weights have the first origin.
fn add(origins: &mut BTreeMap<Digest, String>, more: impl IntoIterator<Item = (Digest, String)>) {
    for (digest, origin) in more {
        origins.entry(digest).or_insert(origin);
    }
}

/// The spec of `size` bytes.
pub fn memory(size: usize, what: &str) -> Result<TensorSpec, Refusal> {
    match i32::try_from(size) {
        Ok(size) => Ok(TensorSpec::contiguous(ScalarType::Byte, [size])),
        Err(_) => {
            Err(Refusal::new(RefusalKind::Partition, format!("the {what} of the partition is larger than 2 GiB")))
        }
    }
}
