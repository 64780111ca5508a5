//! Top-1 accuracy: the number of correct predictions of a program on labelled data, with the portable kernels.

use et_core::ScalarType;
use et_ops::call::OwnedTensor;
use etbuild_ir::Graph;
use rayon::prelude::*;

use crate::calibrate::check_static;
use crate::run::Runner;
use crate::{QuantizeError, Samples, Tensors};

/// The number of rows of the first output whose largest element, or the first of equal elements, is at the label.
/// Each sample has a row per element of the first dimension of the output; labels follow the order of samples.
///
/// # Errors
/// Unfit samples, a number of labels that differs from the number of rows, an output other than `float32` with two or
/// more dimensions, graphs with control flow, kernel errors.
pub fn right_answers(graph: &Graph, samples: &Tensors, labels: &[i64]) -> Result<usize, QuantizeError> {
    check_static(graph)?;
    let samples = Samples::of(graph, samples)?;
    let runner = Runner::new(graph);
    let each: Vec<Vec<usize>> = (0..samples.len())
        .into_par_iter()
        .map(|sample| predictions(graph, &runner, &samples, sample))
        .collect::<Result<_, _>>()?;
    let found: Vec<usize> = each.into_iter().flatten().collect();
    if found.len() != labels.len() {
        return Err(QuantizeError::OtherLabels { found: labels.len(), wanted: found.len() });
    }
    Ok(found.iter().zip(labels).filter(|(answer, label)| usize::try_from(**label) == Ok(**answer)).count())
}

fn predictions(
    graph: &Graph,
    runner: &Runner<'_>,
    samples: &Samples<'_>,
    sample: usize,
) -> Result<Vec<usize>, QuantizeError> {
    let mut held = runner.start(&samples.inputs(sample));
    for (index, node) in graph.nodes.iter().enumerate() {
        runner.step(node, &mut held)?;
        // The outputs are needed after the last node.
        runner.drop_unused_but(index, &graph.outputs, &mut held);
    }
    let first = graph.outputs.first().and_then(|id| held.get(*id));
    first.and_then(rows_of).ok_or(QuantizeError::NoAnswer)
}

/// The index of the largest element of each row.
fn rows_of(output: &OwnedTensor) -> Option<Vec<usize>> {
    let rows = usize::try_from(*output.sizes.first()?).ok().filter(|rows| *rows > 0)?;
    let numbers: Vec<f32> = output.bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let width = numbers.len().checked_div(rows).filter(|width| *width > 0)?;
    let fits = output.scalar_type == ScalarType::Float && output.sizes.len() > 1;
    fits.then(|| numbers.chunks(width).map(largest).collect())
}

fn largest(row: &[f32]) -> usize {
    let better =
        |best: (usize, f32), (index, value): (usize, &f32)| if *value > best.1 { (index, *value) } else { best };
    row.iter().enumerate().fold((0, f32::NEG_INFINITY), better).0
}
