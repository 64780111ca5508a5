//! Blobs of backends: sizes, and the constants of the model inside.

use std::collections::{BTreeMap, BTreeSet};

use etbuild_engine::partition::{DeviceReport, GpuProgram, NodePlace, NpuEstimate, Patches};
use etbuild_ir::{ConstantData, Graph, Program, Value, ValueId, ValueKind};
use serde::Serialize;

use crate::placed_call::{Partition, placed_calls};

/// A call of a backend.
#[derive(Clone, Debug, Serialize)]
pub struct EngineBlob {
    /// The method.
    pub method: String,
    /// The engine.
    pub engine: String,
    /// The partition, counted from 0 in each method.
    pub partition: usize,
    /// The number of program nodes that the call replaces.
    pub nodes: usize,
    /// Bytes.
    pub size: u64,
    /// Bytes of the constants beside the blob that the call reads, which other calls may share.
    pub given: u64,
    /// The constants inside the blob, the largest first; empty where the call reads constants as inputs. A backend may keep constants in
    /// another form.
    pub weights: Vec<Weight>,
    /// The programs of a blob for GPUs, one for each class of GPUs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gpu: Vec<GpuProgram>,
    /// The estimate of an NPU's compiler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub npu: Option<NpuEstimate>,
    /// The layers that a board computes in patches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patches: Option<Patches>,
}

/// A constant of the model that went into a blob.
#[derive(Clone, Debug, Serialize)]
pub struct Weight {
    /// The name by the model's author.
    pub name: String,
    /// Bytes before packing.
    pub size: u64,
}

/// The names of the elements in a program: constants, and first values of state. Equal elements have the name of the
/// first.
pub fn names(program: &Program) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for value in program.methods.values().flat_map(|graph| &graph.values) {
        if let Some((name, data)) = named(value) {
            found.entry(data.digest().to_string()).or_insert_with(|| name.clone());
        }
    }
    found
}

/// The elements in the program with the names by the model's author, if named.
fn named(value: &Value) -> Option<(&String, &ConstantData)> {
    let (name, data) = match &value.kind {
        ValueKind::Constant { qualified_name, data } => (qualified_name, data),
        ValueKind::State { qualified_name, initial } => (qualified_name, initial),
        ValueKind::Input | ValueKind::Computed => return None,
    };
    Some((if name.is_empty() { &value.name } else { name }, data))
}

/// The blobs of a planned program that was made from `prepared`, in the order of the methods' calls; `devices` has a report for each call
/// of a method.
pub fn of(
    planned: &Program,
    prepared: &Program,
    nodes: &[NodePlace],
    mut devices: BTreeMap<String, Vec<DeviceReport>>,
) -> Vec<EngineBlob> {
    let mut found = Vec::new();
    for (method, graph) in &planned.methods {
        let before = prepared.methods.get(method);
        let mut reports = devices.remove(method).unwrap_or_default().into_iter();
        for (_, call, Partition { engine, number, values }) in placed_calls(graph, method, nodes) {
            let (size, given) = (bytes(graph, [call.blob]), bytes(graph, call.inputs.iter().copied().flatten()));
            let weights = before.filter(|_| given == 0).map(|graph| weights(graph, &values)).unwrap_or_default();
            let DeviceReport { gpu, npu, patches } = reports.next().unwrap_or_default();
            found.push(EngineBlob {
                method: method.clone(),
                engine: engine.to_owned(),
                partition: number,
                nodes: values.len(),
                size,
                given,
                weights,
                gpu,
                npu,
                patches,
            });
        }
    }
    found
}

/// Bytes of the constants among these values.
fn bytes(graph: &Graph, values: impl IntoIterator<Item = ValueId>) -> u64 {
    let constants = values.into_iter().filter_map(|id| graph.constant(id));
    constants.map(|data| data.bytes().len() as u64).sum()
}

/// The constants that the nodes which compute `values` read, each once.
fn weights(graph: &Graph, values: &BTreeSet<&str>) -> Vec<Weight> {
    let inside = |id: &ValueId| values.contains(graph.value(*id).name.as_str());
    let nodes = graph.nodes.iter().filter(|node| node.outputs.first().is_some_and(inside));
    let read: BTreeSet<ValueId> = nodes.flat_map(|node| node.uses().collect::<Vec<_>>()).collect();
    let mut weights: Vec<Weight> = read.into_iter().filter_map(|id| weight(graph, id)).collect();
    weights.sort_by(|left, right| right.size.cmp(&left.size).then_with(|| left.name.cmp(&right.name)));
    weights
}

fn weight(graph: &Graph, id: ValueId) -> Option<Weight> {
    graph.constant(id)?;
    let (name, data) = named(graph.value(id))?;
    Some(Weight { name: name.clone(), size: data.bytes().len() as u64 })
}
