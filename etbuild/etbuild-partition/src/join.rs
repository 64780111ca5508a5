//! The partitions of all methods become one blob, for backends that share weights between methods in this way.

use std::collections::BTreeMap;

use etbuild_backend::{Backend, Refusal, TargetFacts};
use etbuild_ir::{ConstantData, DelegateCall, Digest, Program, ValueKind};

use crate::partition::memory;

/// A delegate call of a program: method, and index of the node.
type Place = (String, usize);

/// Joins the partitions of each backend that [joins](Backend::joins) partitions.
///
/// # Errors
/// Partitions that a backend cannot compile together, with the name of the backend.
pub fn join(
    program: &mut Program,
    backends: &[&dyn Backend],
    target: &TargetFacts,
) -> Result<(), (&'static str, Refusal)> {
    for backend in backends.iter().filter(|backend| backend.joins()) {
        of_backend(program, *backend, target).map_err(|refusal| (backend.name(), refusal))?;
    }
    Ok(())
}

fn of_backend(program: &mut Program, backend: &dyn Backend, target: &TargetFacts) -> Result<(), Refusal> {
    let mut calls: Vec<(Place, ConstantData)> = Vec::new();
    for (method, graph) in &program.methods {
        for (index, node) in graph.nodes.iter().enumerate() {
            let call = DelegateCall::of(node).filter(|call| call.backend == backend.name());
            let blob = call.and_then(|call| call.blob_data(graph));
            calls.extend(blob.map(|blob| ((method.clone(), index), blob.clone())));
        }
    }
    // Equal partitions are one graph.
    let mut numbers: BTreeMap<Digest, usize> = BTreeMap::new();
    let mut parts: Vec<&[u8]> = Vec::new();
    for (_, blob) in &calls {
        numbers.entry(blob.digest()).or_insert_with(|| {
            parts.push(blob.bytes());
            parts.len() - 1
        });
    }
    if parts.is_empty() {
        return Ok(());
    }
    let joined = ConstantData::new(backend.join(&parts, target)?);
    for ((method, index), part) in &calls {
        let Some(graph) = program.methods.get_mut(method) else { continue };
        let kind = ValueKind::Constant { qualified_name: String::new(), data: joined.clone() };
        let spec = memory(joined.bytes().len(), "blob")?;
        let blob = graph.add_value(&format!("{}_joined", backend.name()), spec, kind);
        let number = numbers.get(&part.digest()).copied().unwrap_or(0);
        let node = graph.nodes.get(*index).and_then(|node| DelegateCall::joined(node, blob, number as i64));
        if let (Some(place), Some(node)) = (graph.nodes.get_mut(*index), node) {
            *place = node;
        }
    }
    for graph in program.methods.values_mut() {
        let whole = std::mem::take(graph);
        let nodes = whole.nodes.clone();
        *graph = etbuild_ir::compact(whole, nodes);
    }
    Ok(())
}
