//! The partitions of all methods become one blob, or a few, for backends that share weights between methods in this way.

use std::collections::{BTreeMap, BTreeSet};

use etbuild_backend::{Backend, Refusal, TargetFacts};
use etbuild_ir::{ConstantData, DelegateCall, Digest, Program, ValueId, ValueKind, compact};

use crate::partition::memory;

/// The partitions that become one blob: the blobs of [`Backend::lower`]. Equal partitions are one.
pub type Group = Vec<ConstantData>;

/// The groups of a program's partitions for a backend that [joins](Backend::joins) partitions.
///
/// # Errors
/// Partitions that are not the backend's.
pub fn groups(program: &Program, backend: &dyn Backend, target: &TargetFacts) -> Result<Vec<Group>, Refusal> {
    let parts = parts(program, backend);
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    let bytes: Vec<&[u8]> = parts.iter().map(ConstantData::bytes).collect();
    let group = |positions: Vec<usize>| positions.iter().filter_map(|position| parts.get(*position).cloned()).collect();
    Ok(backend.groups(&bytes, target)?.into_iter().map(group).collect())
}

/// The partitions of a backend, in the order of methods and calls.
fn parts(program: &Program, backend: &dyn Backend) -> Group {
    let mut parts = Group::new();
    let mut seen = BTreeSet::<Digest>::new();
    for graph in program.methods.values() {
        let calls = graph.nodes.iter().filter_map(DelegateCall::of).filter(|call| call.backend == backend.name());
        let blobs = calls.filter_map(|call| call.blob_data(graph));
        parts.extend(blobs.filter(|blob| seen.insert(blob.digest())).cloned());
    }
    parts
}

/// Replaces the blobs of a backend's calls by the blobs of their groups.
///
/// # Errors
/// A blob that is too large for a program.
pub fn join(program: &mut Program, backend: &dyn Backend, joined: &[(Group, ConstantData)]) -> Result<(), Refusal> {
    let mut places: BTreeMap<Digest, (&ConstantData, usize)> = BTreeMap::new();
    for (group, blob) in joined {
        places.extend(group.iter().enumerate().map(|(number, part)| (part.digest(), (blob, number))));
    }
    for graph in program.methods.values_mut() {
        let mut blobs: BTreeMap<Digest, ValueId> = BTreeMap::new();
        for index in 0..graph.nodes.len() {
            let call = DelegateCall::of(&graph.nodes[index]).filter(|call| call.backend == backend.name());
            let part = call.and_then(|call| call.blob_data(graph)).map(ConstantData::digest);
            let Some((blob, number)) = part.and_then(|part| places.get(&part)) else { continue };
            let spec = memory(blob.bytes().len(), "blob")?;
            let id = *blobs.entry(blob.digest()).or_insert_with(|| {
                let kind = ValueKind::Constant { qualified_name: String::new(), data: (*blob).clone() };
                graph.add_value(&format!("{}_joined", backend.name()), spec, kind)
            });
            if let Some(node) = DelegateCall::joined(&graph.nodes[index], id, *number as i64) {
                graph.nodes[index] = node;
            }
        }
        let mut whole = std::mem::take(graph);
        let nodes = std::mem::take(&mut whole.nodes);
        *graph = compact(whole, nodes);
    }
    Ok(())
}
