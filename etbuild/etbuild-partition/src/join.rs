//! The partitions of all methods become one blob, for backends that share weights between methods in this way.

use std::collections::BTreeMap;

use etbuild_backend::{Backend, Refusal, TargetFacts};
use etbuild_ir::{ConstantData, DelegateCall, Digest, Program, ValueKind, compact};

use crate::partition::memory;

/// The delegate calls of a backend, and the blobs of their partitions.
#[derive(Default)]
struct Calls {
    /// The method and the index of the node of each call, and the number of its partition.
    places: Vec<(String, usize, usize)>,
    /// The blobs. Equal partitions are one.
    parts: Vec<ConstantData>,
}

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
    let Calls { places, parts } = calls(program, backend);
    if parts.is_empty() {
        return Ok(());
    }
    let blobs: Vec<&[u8]> = parts.iter().map(ConstantData::bytes).collect();
    let joined = ConstantData::new(backend.join(&blobs, target)?);
    let spec = memory(joined.bytes().len(), "blob")?;
    for (method, index, number) in places {
        let Some(graph) = program.methods.get_mut(&method) else { continue };
        let kind = ValueKind::Constant { qualified_name: String::new(), data: joined.clone() };
        let blob = graph.add_value(&format!("{}_joined", backend.name()), spec.clone(), kind);
        if let Some(node) = graph.nodes.get_mut(index)
            && let Some(joined) = DelegateCall::joined(node, blob, number as i64)
        {
            *node = joined;
        }
    }
    for graph in program.methods.values_mut() {
        let mut whole = std::mem::take(graph);
        let nodes = std::mem::take(&mut whole.nodes);
        *graph = compact(whole, nodes);
    }
    Ok(())
}

fn calls(program: &Program, backend: &dyn Backend) -> Calls {
    let (mut calls, mut numbers) = (Calls::default(), BTreeMap::<Digest, usize>::new());
    for (method, graph) in &program.methods {
        for (index, node) in graph.nodes.iter().enumerate() {
            let call = DelegateCall::of(node).filter(|call| call.backend == backend.name());
            let Some(blob) = call.and_then(|call| call.blob_data(graph)) else { continue };
            let number = *numbers.entry(blob.digest()).or_insert_with(|| {
                calls.parts.push(blob.clone());
                calls.parts.len() - 1
            });
            calls.places.push((method.clone(), index, number));
        }
    }
    calls
}
