//! Calibration: measuring the ranges of activations on samples.

use et_ops::call::{OwnedTensor, TensorRef};
use etbuild_ir::{Control, Graph, IdMap, Links, Update, ValueId, ValueKind};
use rayon::prelude::*;

use crate::annotate::Annotation;
use crate::observer::{Distribution, Observer};
use crate::parameters::{Bounds, Parameters};
use crate::places::{Ranges, places};
use crate::run::{Runner, float_constant};
use crate::{QuantizeError, Samples};

/// The qparams of activations.
#[derive(Debug, Default)]
pub struct Measured {
    /// By the representative of tensors with shared qparams.
    parameters: IdMap<Parameters>,
}

impl Measured {
    /// The qparams of a quantized tensor.
    pub fn parameters(&self, annotation: &Annotation, id: ValueId) -> Option<Parameters> {
        self.parameters.get(annotation.representative(id)).copied()
    }

    /// The qparams of a graph by the places of its tensors.
    ///
    /// # Errors
    /// A quantized tensor without qparams.
    pub fn at_places(graph: &Graph, annotation: &Annotation, ranges: &Ranges) -> Result<Self, QuantizeError> {
        let (places, mut measured) = (places(graph), Self::default());
        for (id, representative) in annotation.sources() {
            let place = places.get(id).map(String::as_str).unwrap_or_default();
            let parameters =
                ranges.get(place).ok_or_else(|| QuantizeError::Unmeasured(graph.value(id).name.clone()))?;
            measured.parameters.insert(representative, *parameters);
        }
        Ok(measured)
    }

    /// Sets known qparams. Where the representative has known qparams already, the new qparams cover both ranges.
    fn fix(&mut self, representative: ValueId, fixed: Parameters, bounds: Bounds) {
        let both = self.parameters.get(representative).filter(|known| **known != fixed).map(|known| {
            let all = [*known, fixed];
            let least = all.map(|parameters| parameters.dequantize(bounds.lowest)).into_iter().fold(0.0, f32::min);
            let greatest = all.map(|parameters| parameters.dequantize(bounds.highest)).into_iter().fold(0.0, f32::max);
            Parameters::of_activations(least, greatest, bounds)
        });
        self.parameters.insert(representative, both.unwrap_or(fixed));
    }
}

/// The distributions of observed tensors.
type Seen = IdMap<Distribution>;

/// The qparams of every int8 tensor. Samples run in parallel, and the result does not depend on the order of samples, unless the graph has
/// buffers that it writes: then they are consecutive executions. The memory per sample is the memory of the live tensors.
pub fn calibrate(
    graph: &Graph,
    annotation: &Annotation,
    observer: Observer,
    samples: &Samples<'_>,
) -> Result<Measured, QuantizeError> {
    check_static(graph)?;
    let watched = watched(annotation);
    let seen = observe(graph, &watched, observer, samples)?;
    choose(graph, annotation, observer, &watched, seen)
}

/// The distribution of every tensor that may become int8, for several annotations of a graph.
pub struct Distributions(Seen);

impl Distributions {
    /// Runs the samples. Annotations for [`Distributions::choose`] must quantize a subset of the tensors of this
    /// annotation.
    pub fn observe(
        graph: &Graph,
        annotation: &Annotation,
        observer: Observer,
        samples: &Samples<'_>,
    ) -> Result<Self, QuantizeError> {
        let each = annotation.sources().map(|(id, _)| (id, id)).collect();
        observe(graph, &each, observer, samples).map(Self)
    }

    /// The qparams of int8 tensors.
    pub fn choose(
        &self,
        graph: &Graph,
        annotation: &Annotation,
        observer: Observer,
    ) -> Result<Measured, QuantizeError> {
        let (watched, mut seen) = (watched(annotation), Seen::default());
        for (id, representative) in watched.iter() {
            self.0.get(id).into_iter().for_each(|found| add(&mut seen, *representative, found.clone()));
        }
        choose(graph, annotation, observer, &watched, seen)
    }
}

/// The observed tensors, each with the representative.
fn watched(annotation: &Annotation) -> IdMap<ValueId> {
    annotation.sources().filter(|(id, _)| annotation.fixed.get(*id).is_none()).collect()
}

fn observe(
    graph: &Graph,
    watched: &IdMap<ValueId>,
    observer: Observer,
    samples: &Samples<'_>,
) -> Result<Seen, QuantizeError> {
    let runner = Runner::new(graph);
    let kept = kept(graph);
    let run = |sample, state| watch((graph, &runner), (watched, &kept), observer, samples.inputs(sample), state);
    if kept.is_empty() {
        let each = (0..samples.len()).into_par_iter().map(|sample| run(sample, State::new()).map(|(seen, _)| seen));
        return each.try_reduce(Seen::default, |left, right| Ok(join(left, right)));
    }
    let start = (Seen::default(), State::new());
    let all = (0..samples.len()).try_fold(start, |(seen, state), sample| {
        let (more, state) = run(sample, state)?;
        Ok::<_, QuantizeError>((join(seen, more), state))
    });
    all.map(|(seen, _)| seen)
}

/// The state behind an execution.
type State = Vec<(ValueId, OwnedTensor)>;

/// The buffers that a module writes by itself. The state of a language model's operators begins anew with each text.
fn kept(graph: &Graph) -> Vec<Update> {
    let links = Links::of(graph);
    let is_of_module = |update: &&Update| {
        let is_state = matches!(graph.value(update.target).kind, ValueKind::State { .. });
        is_state && links.maker(update.value).is_some_and(|node| node.operator.as_str().starts_with("aten."))
    };
    graph.updates.iter().filter(is_of_module).copied().collect()
}

/// Fails for a graph with control flow or computed numbers.
pub fn check_static(graph: &Graph) -> Result<(), QuantizeError> {
    let jumps = |node: &etbuild_ir::Node| Control::of(node).is_some() || node.operator.primitive().is_some();
    match graph.nodes.iter().find(|node| jumps(node)) {
        Some(node) => Err(QuantizeError::NotStatic(node.operator.to_string())),
        None => Ok(()),
    }
}

/// The distributions of an execution with state, and the state behind it.
fn watch(
    (graph, runner): (&Graph, &Runner<'_>),
    (watched, kept): (&IdMap<ValueId>, &[Update]),
    observer: Observer,
    inputs: Vec<TensorRef<'_>>,
    state: State,
) -> Result<(Seen, State), QuantizeError> {
    let mut held = runner.start(&inputs);
    state.into_iter().for_each(|(id, tensor)| held.insert(id, tensor));
    let written: Vec<ValueId> = kept.iter().map(|update| update.value).collect();
    let mut seen = Seen::default();
    let mut note = |id: ValueId, bytes: &[u8]| {
        if let Some(representative) = watched.get(id) {
            add(&mut seen, *representative, Distribution::of(bytes, observer.needs_only_extent()));
        }
    };
    for id in &graph.inputs {
        held.get(*id).into_iter().for_each(|tensor| note(*id, &tensor.bytes));
    }
    for (index, node) in graph.nodes.iter().enumerate() {
        runner.step(node, &mut held)?;
        for id in &node.outputs {
            held.get(*id).into_iter().for_each(|tensor| note(*id, &tensor.bytes));
        }
        runner.drop_unused_but(index, &written, &mut held);
    }
    let next = kept.iter().filter_map(|update| Some((update.target, held.get(update.value)?.clone())));
    Ok((seen, next.collect()))
}

fn add(seen: &mut Seen, id: ValueId, more: Distribution) {
    match seen.get_mut(id) {
        Some(known) => known.join(more),
        None => drop(seen.insert(id, more)),
    }
}

fn join(mut left: Seen, right: Seen) -> Seen {
    for (id, more) in right.iter() {
        add(&mut left, id, more.clone());
    }
    left
}

/// Chooses qparams. Constants are measured without a run.
fn choose(
    graph: &Graph,
    annotation: &Annotation,
    observer: Observer,
    watched: &IdMap<ValueId>,
    mut seen: Seen,
) -> Result<Measured, QuantizeError> {
    for (id, representative) in watched.iter() {
        if let Some(bytes) = float_constant(graph, id) {
            add(&mut seen, *representative, Distribution::of(bytes, observer.needs_only_extent()));
        }
    }
    let mut measured = Measured::default();
    for (id, representative) in annotation.sources() {
        if let Some((scale, zero_point)) = annotation.fixed.get(id) {
            let fixed = Parameters { scale: *scale, zero_point: *zero_point };
            match seen.get_mut(representative) {
                // Shared qparams must also cover the known range.
                Some(known) => {
                    known.join(Distribution::of(&ends(fixed, annotation.bounds(id)), observer.needs_only_extent()))
                }
                None => measured.fix(representative, fixed, annotation.bounds(id)),
            }
        }
    }
    for (id, distribution) in seen.iter() {
        let parameters = observer.choose(distribution, annotation.bounds(id));
        let parameters = parameters.ok_or_else(|| QuantizeError::NotFinite(graph.value(id).name.clone()))?;
        measured.parameters.insert(id, parameters);
    }
    Ok(measured)
}

/// The smallest and the largest representable value, as elements.
fn ends(parameters: Parameters, bounds: Bounds) -> Vec<u8> {
    [bounds.lowest, bounds.highest].into_iter().flat_map(|end| parameters.dequantize(end).to_le_bytes()).collect()
}
