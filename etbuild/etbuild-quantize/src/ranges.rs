//! The qparams of a language model's activations, for all methods: each is the same network over another number of tokens, so that the
//! tensors of one method stand for those of the others. Methods that share a KV cache must have the same qparams.

use std::collections::{BTreeMap, HashMap};

use etbuild_ir::{Graph, IdMap, Node, ValueKind};

use crate::annotate::annotate;
use crate::calibrate::calibrate;
use crate::options::Options;
use crate::parameters::Parameters;
use crate::{QuantizeError, Samples, Tensors};

/// qparams by the place of a tensor: its module, operator and number among the module's nodes of the operator.
pub type Ranges = BTreeMap<String, Parameters>;

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

/// The place of each tensor.
pub fn places(graph: &Graph) -> IdMap<String> {
    let mut places: IdMap<String> = graph.inputs.iter().map(|id| (*id, graph.value(*id).name.clone())).collect();
    for id in graph.nodes.iter().flat_map(Node::uses) {
        if let ValueKind::Constant { qualified_name, .. } = &graph.value(id).kind {
            places.insert(id, qualified_name.clone());
        }
    }
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    for node in &graph.nodes {
        let module = node.outputs.first().and_then(|id| graph.origins.get(*id)).map_or("", |module| module);
        let operator = node.operator.as_str();
        let count = counts.entry((module, operator)).or_default();
        for (position, id) in node.outputs.iter().enumerate() {
            places.insert(*id, format!("{module} {operator} {count} {position}"));
        }
        *count += 1;
    }
    places
}
