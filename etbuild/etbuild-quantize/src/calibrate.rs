//! Measuring the ranges of activations on samples.

use etbuild_ir::{Control, Graph, IdMap, ValueId};
use rayon::prelude::*;

use crate::annotate::Annotation;
use crate::observer::{Distribution, Observer};
use crate::parameters::{Bounds, Parameters};
use crate::run::{Runner, float_constant};
use crate::{QuantizeError, Samples};

/// The parameters of activations.
#[derive(Debug, Default)]
pub struct Measured {
    /// By the tensor that stands for all that share them.
    parameters: IdMap<Parameters>,
}

impl Measured {
    /// The parameters of a tensor that is quantized.
    pub fn parameters(&self, annotation: &Annotation, id: ValueId) -> Option<Parameters> {
        self.parameters.get(annotation.representative(id)).copied()
    }

    /// Takes parameters that are known; where others are known too, such as hold both ranges.
    fn fix(&mut self, representative: ValueId, fixed: Parameters) {
        let both = self.parameters.get(representative).filter(|known| **known != fixed).map(|known| {
            let (all, bounds) = ([*known, fixed], Bounds::ACTIVATION);
            let least = all.map(|parameters| parameters.dequantize(bounds.lowest)).into_iter().fold(0.0, f32::min);
            let greatest = all.map(|parameters| parameters.dequantize(bounds.highest)).into_iter().fold(0.0, f32::max);
            Parameters::asymmetric(least, greatest, bounds)
        });
        self.parameters.insert(representative, both.unwrap_or(fixed));
    }
}

/// What was seen of tensors.
type Seen = IdMap<Distribution>;

/// The parameters of every tensor that becomes integers. Samples run side by side; what comes out does not depend on their
/// order. A sample takes the memory of the tensors that are in use at once.
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

/// What was seen of every tensor that may become integers, for several annotations of one graph.
pub struct Distributions(Seen);

impl Distributions {
    /// Runs the samples. No annotation that [`Distributions::choose`] gets may quantize what this one leaves real.
    pub fn observe(
        graph: &Graph,
        annotation: &Annotation,
        observer: Observer,
        samples: &Samples<'_>,
    ) -> Result<Self, QuantizeError> {
        let each = annotation.sources().map(|(id, _)| (id, id)).collect();
        observe(graph, &each, observer, samples).map(Self)
    }

    /// The parameters of what becomes integers.
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

/// The tensors to look at, each with the one that stands for it.
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
    let run = |sample| watch(graph, &runner, watched, observer, samples, sample);
    (0..samples.len()).into_par_iter().map(run).try_reduce(Seen::default, |left, right| Ok(join(left, right)))
}

/// A graph that jumps or computes with numbers is not run here.
pub fn check_static(graph: &Graph) -> Result<(), QuantizeError> {
    let jumps = |node: &etbuild_ir::Node| Control::of(node).is_some() || node.operator.primitive().is_some();
    match graph.nodes.iter().find(|node| jumps(node)) {
        Some(node) => Err(QuantizeError::NotStatic(node.operator.to_string())),
        None => Ok(()),
    }
}

fn watch(
    graph: &Graph,
    runner: &Runner<'_>,
    watched: &IdMap<ValueId>,
    observer: Observer,
    samples: &Samples<'_>,
    sample: usize,
) -> Result<Seen, QuantizeError> {
    let mut held = runner.start(&samples.inputs(sample));
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
        runner.drop_unused(index, &mut held);
    }
    Ok(seen)
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

/// Constants are measured here: they need no run.
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
                // What shares parameters with something measured must hold that too.
                Some(known) => known.join(Distribution::of(&ends(fixed), observer.needs_only_extent())),
                None => measured.fix(representative, fixed),
            }
        }
    }
    for (id, distribution) in seen.iter() {
        let parameters = observer.choose(distribution, Bounds::ACTIVATION);
        let parameters = parameters.ok_or_else(|| QuantizeError::NotFinite(graph.value(id).name.clone()))?;
        measured.parameters.insert(id, parameters);
    }
    Ok(measured)
}

/// The least and the greatest number that integers of 8 bits stand for, as elements.
fn ends(parameters: Parameters) -> Vec<u8> {
    [Bounds::ACTIVATION.lowest, Bounds::ACTIVATION.highest]
        .into_iter()
        .flat_map(|end| parameters.dequantize(end).to_le_bytes())
        .collect()
}
