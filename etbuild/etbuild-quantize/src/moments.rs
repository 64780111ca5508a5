//! Second moments of activations, measured on samples.

use std::collections::BTreeMap;

use et_ops::call::OwnedTensor;
use etbuild_ir::{ConstantData, Graph, IdMap, Node, ValueId, ValueKind};
use rayon::prelude::*;

use crate::annotate::tensor;
use crate::calibrate::check_static;
use crate::run::{Held, Runner};
use crate::source::Sources;
use crate::{QuantizeError, Samples, Tensors};

/// Second moments by the name of the weights `[rows, columns]` that read the vectors: `sum(x[i] x[j])` over all
/// vectors, the rows of the upper triangle, `float32`.
pub type Moments = BTreeMap<String, ConstantData>;

/// The moments for all linear layers of a graph with at least as many vectors as elements per vector: fewer vectors
/// determine the moments too poorly. `keep` stores the bytes of each, so that memory holds at most a single matrix.
///
/// All samples run through the graph in parallel, node by node; memory holds the live tensors of every sample. Sums
/// have a fixed order.
///
/// # Errors
/// Unfit samples, graphs with control flow, kernel errors.
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
            // Query, key and value projections read the same tensor.
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

/// The activations of a linear layer with constant weights, and the name of the weights.
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

/// The moments of the vectors (rows of the last dimension) of a tensor in all runs. `None` for too few vectors.
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
