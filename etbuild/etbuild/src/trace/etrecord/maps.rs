//! The debug handles of the events of a recording.

use std::collections::BTreeMap;

use et_module::recording::{DELEGATE_CALL, Recording};
use etbuild_engine::import::ExportedGraph;
use etbuild_ir::TensorSpec;
use serde::{Serialize, Serializer};

use super::handles::{Handles, handle};
use super::sizes::fits;
use crate::trace::labels::{Label, labels};
use crate::trace::profile::{Names, Profile};

/// The handles by instruction of the method.
#[derive(Default)]
pub struct Maps {
    /// Those of a kernel, and all of the call of a delegate.
    pub of_instructions: BTreeMap<u32, Vec<usize>>,
    /// Those of the instructions of a delegate, by identifier.
    pub of_delegates: BTreeMap<u32, OfDelegate>,
}

/// The call of a delegate.
#[derive(Default, Serialize)]
pub struct OfDelegate {
    /// The name of the backend.
    name: String,
    #[serde(rename = "delegate_map", serialize_with = "in_order")]
    instructions: Vec<(String, Vec<usize>)>,
}

impl Maps {
    /// The handles of the first execution; those of others are the same.
    pub fn of(graph: &ExportedGraph, recording: &Recording, profile: &Profile, names: &Names<'_>) -> Self {
        let mut maps = Self::default();
        let Some(run) = recording.runs.first() else { return maps };
        let Some(facts) = recording.methods.get(run.method) else { return maps };
        let Some(profile) = profile.methods.iter().find(|method| method.method == facts.name) else { return maps };
        let labels = labels(run, facts, profile, names.calls(&facts.name));
        let keeps = run.events.iter().any(|event| !event.results.is_empty() || !event.memory.is_empty());
        let values: Vec<&str> = labels.iter().map(|label| names.float(&facts.name, value(label))).collect();
        let mut handles = Handles::new(graph, values.iter().copied());
        let nodes: Vec<Option<usize>> = values.iter().map(|value| handles.node(value)).collect();
        let owners = owners(&labels, &nodes);
        for (number, (label, node)) in labels.iter().zip(nodes).enumerate() {
            let found = match node {
                Some(node) if owners.get(&node) == Some(&number) => handles.take(node),
                // A part of an operator: the tensor is not the operator's, and the Inspector would compare it with the operator's.
                Some(node) if !keeps => vec![handle(node)],
                _ => Vec::new(),
            };
            let is_comparable = !keeps || node.is_some_and(|node| is_result(label, graph.nodes[node].spec.as_ref()));
            maps.add(label, if is_comparable { found } else { Vec::new() });
        }
        // The Inspector takes the last identifier that is a part of an event's. The longest such identifier is the event's own.
        for delegate in maps.of_delegates.values_mut() {
            delegate.instructions.sort_by_key(|(identifier, _)| identifier.len());
        }
        maps
    }

    fn add(&mut self, label: &Label<'_>, handles: Vec<usize>) {
        let of_instruction = self.of_instructions.entry(label.event.at.instruction).or_default();
        if label.event.step.is_none() && label.name != DELEGATE_CALL {
            of_instruction.extend(handles);
            return;
        }
        of_instruction.extend(&handles);
        of_instruction.sort_unstable();
        of_instruction.dedup();
        let delegate = self.of_delegates.entry(label.event.at.instruction).or_default();
        if let Some(row) = label.row {
            delegate.name.clone_from(&row.backend);
        }
        if label.event.step.is_some() && !handles.is_empty() {
            delegate.instructions.push((label.delegate.clone(), handles));
        }
    }
}

/// The value that an instruction leaves in memory; the first result of the call of a delegate.
fn value<'l>(label: &'l Label<'_>) -> &'l str {
    let of_call = label.call.map_or("", |call| call.value.as_str());
    let computed = label.row.map_or(of_call, |row| row.value.as_str());
    label.stored().map_or(computed, |stored| stored.value.as_str())
}

/// The instruction that computes the whole result of each node: the last, and not the call of a delegate around it.
fn owners(labels: &[Label<'_>], nodes: &[Option<usize>]) -> BTreeMap<usize, usize> {
    let computing = labels.iter().zip(nodes).enumerate().filter(|(_, (label, _))| label.row.is_some());
    computing.filter_map(|(number, (_, node))| Some(((*node)?, number))).collect()
}

/// Whether an event keeps a tensor of a shape.
fn is_result(label: &Label<'_>, spec: Option<&TensorSpec>) -> bool {
    spec.is_some_and(|spec| label.results().iter().any(|array| fits(&array.shape, spec)))
}

fn in_order<S: Serializer>(instructions: &[(String, Vec<usize>)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(instructions.iter().map(|(identifier, handles)| (identifier, handles)))
}
