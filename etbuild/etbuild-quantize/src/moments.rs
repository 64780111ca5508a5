//! Second moments of what products multiply their weights with, measured on samples.

use std::collections::BTreeMap;

use et_ops::call::OwnedTensor;
use etbuild_ir::{ConstantData, Graph, IdMap, Node, ValueId, ValueKind};
use rayon::prelude::*;

use crate::annotate::tensor;
use crate::calibrate::check_static;
use crate::run::{Held, Runner};
use crate::source::Sources;
use crate::{QuantizeError, Samples, Tensors};

/// Sums of products by the name of the weights `[rows, columns]` that read the vectors: `sum(x[i] x[j])` over all vectors, the
/// rows of the upper triangle one after the other, `float32`.
pub type Moments = BTreeMap<String, ConstantData>;

/// The moments for all linear layers of a graph that read as many vectors as these have elements, or more: fewer say too little.
/// `keep` gets each as its bytes, and gives what stands for them, so that no more
/// than one is in memory.
///
/// All samples go through the graph side by side, node by node: what is in memory of them are the tensors that are in use at
/// once. Sums have a fixed order.
///
/// # Errors
/// Unfit samples, graphs that jump, kernels that fail.
pub fn moments(
    graph: &Graph,
    samples: &Tensors,
    keep: &mut dyn FnMut(Vec<u8>) -> ConstantData,
) -> Result<Moments, QuantizeError> {
    check_static(graph)?;
    let (samples, sources) = (Samples::of(graph, samples)?, Sources::of(graph));
    let (runner, mut found, mut seen) = (Runner::new(graph), Moments::new(), IdMap::<Option<ConstantData>>::default());
    let mut runs: Vec<Held<'_>> = (0..samples.len()).map(|sample| runner.start(&samples.inputs(sample))).collect();
    for (index, node) in graph.nodes.iter().enumerate() {
        if let Some((input, name)) = product(graph, &sources, node) {
            // Queries, keys and values read the same.
            if seen.get(input).is_none() {
                seen.insert(input, sums(graph, input, &runs).map(&mut *keep));
            }
            seen.get(input).into_iter().flatten().for_each(|kept| drop(found.insert(name.to_owned(), kept.clone())));
        }
        let step = |held: &mut Held<'_>| {
            runner.step(node, held)?;
            runner.drop_unused(index, held);
            Ok::<(), QuantizeError>(())
        };
        runs.par_iter_mut().try_for_each(step)?;
    }
    Ok(found)
}

/// What a linear layer multiplies its constant weights with, and what these are called.
fn product<'g>(graph: &'g Graph, sources: &Sources, node: &Node) -> Option<(ValueId, &'g str)> {
    if node.operator.as_str() != "aten.linear.default" {
        return None;
    }
    let weights = sources.constant(graph, tensor(node, 1)?)?;
    match &graph.value(weights).kind {
        ValueKind::Constant { qualified_name, .. } => Some((tensor(node, 0)?, qualified_name)),
        _ => None,
    }
}

/// The sums over the vectors of a tensor in all runs: its last dimension. `None` where they are too few.
fn sums(graph: &Graph, id: ValueId, runs: &[Held<'_>]) -> Option<Vec<u8>> {
    let size = graph.spec(id).sizes.last().and_then(|size| usize::try_from(*size).ok()).unwrap_or(0);
    let vectors: Vec<Vec<f32>> = runs.iter().filter_map(|held| held.get(id)).map(floats).collect();
    let count: usize = vectors.iter().map(Vec::len).sum();
    if size == 0 || count < size * size {
        return None;
    }
    let mut sums = vec![0.0_f32; size * size];
    sums.par_chunks_mut(size.max(1)).enumerate().for_each(|(row, sums)| {
        for vector in vectors.iter().flat_map(|vectors| vectors.chunks_exact(size)) {
            let factor = vector.get(row).copied().unwrap_or_default();
            let products = sums.iter_mut().zip(vector).skip(row);
            products.for_each(|(sum, element)| *sum += factor * element);
        }
    });
    let rows = sums.chunks_exact(size.max(1)).enumerate();
    Some(rows.flat_map(|(row, sums)| sums.iter().skip(row)).flat_map(|sum| sum.to_le_bytes()).collect())
}

fn floats(tensor: &OwnedTensor) -> Vec<f32> {
    tensor.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}
