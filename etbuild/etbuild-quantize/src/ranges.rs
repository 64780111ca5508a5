//! The qparams of a language model's activations, for all methods: each is the same network over another number of tokens, so that the
//! tensors of one method stand for those of the others. Methods that share a KV cache must have the same qparams.

use etbuild_ir::Graph;

use crate::annotate::annotate;
use crate::calibrate::calibrate;
use crate::options::Options;
use crate::places::{Ranges, places};
use crate::{QuantizeError, Samples, Tensors};

/// The qparams of all tensors of a graph that the options quantize, measured on samples.
///
/// # Errors
/// Unfit samples, graphs with control flow, kernel errors.
pub fn ranges(graph: &Graph, options: &Options, samples: &Tensors) -> Result<Ranges, QuantizeError> {
    let annotation = annotate(graph, options);
    let measured = calibrate(graph, &annotation, options.observer, &Samples::of(graph, samples)?)?;
    let places = places(graph);
    let known = annotation.sources().filter_map(|(id, _)| {
        let parameters = measured.parameters(&annotation, id)?;
        Some((places.get(id)?.clone(), parameters))
    });
    Ok(known.collect())
}
