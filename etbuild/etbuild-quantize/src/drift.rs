//! Drift: where the values of two runs of a graph begin to differ.

use et_core::ScalarType;
use et_ops::call::OwnedTensor;
use etbuild_ir::Graph;

use crate::calibrate::check_static;
use crate::compare::Energy;
use crate::options::module;
use crate::run::Runner;
use crate::{Loss, QuantizeError, Samples, Tensors};

/// The `float32` values that the nodes of a graph compute on a sample, by name, computed by the portable kernels.
///
/// # Errors
/// Unfit samples, graphs with control flow, kernel errors.
pub fn values(graph: &Graph, samples: &Samples<'_>, sample: usize) -> Result<Tensors, QuantizeError> {
    check_static(graph)?;
    let runner = Runner::new(graph);
    let mut held = runner.start(&samples.inputs(sample));
    let mut found = Tensors::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        runner.step(node, &mut held)?;
        for id in node.outputs.iter().filter(|id| graph.spec(**id).scalar_type == ScalarType::Float) {
            found.extend(held.get(*id).map(|tensor| (graph.value(*id).name.clone(), tensor.clone())));
        }
        runner.drop_unused(index, &mut held);
    }
    Ok(found)
}

/// The signal-to-noise ratio of a tensor against a reference of the same shape, in decibels.
pub fn similarity(reference: &OwnedTensor, other: &OwnedTensor) -> f64 {
    Energy::of(reference, other).decibels()
}

/// The error of each value that both runs have, in the order of the graph's nodes. A pair of runs is the reference and the other run
/// on a sample; values with the same name correspond. A value of another number of elements has an infinite error.
pub fn drift(graph: &Graph, runs: &[(Tensors, Tensors)]) -> Vec<Loss> {
    let mut found = Vec::new();
    for node in &graph.nodes {
        let Some(value) = node.outputs.first().map(|id| &graph.value(*id).name) else { continue };
        let pairs = runs.iter().filter_map(|(reference, other)| Some((reference.get(value)?, other.get(value)?)));
        let energies = pairs.map(|(reference, other)| match reference.bytes.len() == other.bytes.len() {
            true => Energy::of(reference, other),
            false => Energy::unlike(),
        });
        if let Some(energy) = energies.reduce(Energy::plus) {
            found.push(Loss {
                value: value.clone(),
                operator: node.operator.as_str().to_owned(),
                module: module(graph, node).to_owned(),
                quantized: false,
                sqnr: energy.decibels(),
                max_error: energy.max_error(),
            });
        }
    }
    found
}
