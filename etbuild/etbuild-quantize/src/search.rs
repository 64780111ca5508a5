//! Which layers to keep real so that no more is lost than is allowed: found by measuring what each of them does to the outputs.

use std::collections::BTreeSet;

use et_core::ScalarType;
use et_ops::call::OwnedTensor;
use etbuild_ir::{Graph, Node};
use rayon::prelude::*;

use crate::annotate::{Annotation, annotate};
use crate::calibrate::{Distributions, check_static};
use crate::compare::Energy;
use crate::options::module;
use crate::rule::{self, Kind};
use crate::run::Runner;
use crate::{
    InMemory, Layer, Moments, Options, QuantizeError, Samples, Scheme, Tensors, convert, prune, right_answers,
};

/// What must hold of the quantized program.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit<'a> {
    /// The outputs have at least this signal-to-noise ratio on the samples, in decibels.
    Sqnr(f64),
    /// At most so many right answers less than the real program gives.
    Answers {
        /// Inputs by name.
        data: &'a Tensors,
        /// The right class of each case.
        labels: &'a [i64],
        /// How many may be lost.
        lost: usize,
    },
}

/// Layers to keep real, and what that does.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Lines for [`Options::layers`], the one with the greatest effect first.
    pub kept: Vec<Effect>,
    /// How many layers there are to choose from.
    pub layers: usize,
    /// Before, and with these layers real.
    pub scores: [Score; 2],
    /// How many quantized programs were run.
    pub runs: usize,
}

/// What keeping one layer real does.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The layer.
    pub layer: Layer,
    /// The outputs' signal-to-noise ratio where it alone is real, less that where none is, in decibels.
    pub gain: f64,
}

/// How good a quantized program is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The outputs' signal-to-noise ratio, in decibels; infinite where nothing is lost.
    pub sqnr: f64,
    /// Right answers that the real program gives and this one does not, where they are counted; negative where it is better.
    pub lost: Option<i64>,
}

/// Layers to keep real so that `limit` holds: those whose effect alone is greatest, as few as that order allows, without any
/// that turns out not to be needed.
///
/// Ranges are observed once. Beyond that it takes a run of a quantized program over all samples for every layer, and one more for
/// each layer that is kept and for each halving of their number; a limit on answers adds runs over the labelled data to the latter.
///
/// # Errors
/// As for [`crate::quantize`] and [`crate::compare`], and labels that do not fit.
pub fn search(
    graph: &Graph,
    options: &Options,
    samples: &Tensors,
    limit: &Limit<'_>,
) -> Result<Proposal, QuantizeError> {
    let mut trial = Trial::new(graph, options, samples, limit)?;
    let before = trial.score(&[])?;
    let layers = layers(graph, options);
    let mut ranked = if trial.holds(before) { Vec::new() } else { trial.effects(&layers, before.sqnr)? };
    ranked.sort_by(|left, right| right.gain.total_cmp(&left.gain));
    let kept = trial.fewest(ranked)?;
    let after = trial.score(&lines(&kept))?;
    Ok(Proposal { kept, layers: layers.len(), scores: [before, after], runs: trial.runs })
}

fn lines(kept: &[Effect]) -> Vec<Layer> {
    kept.iter().map(|effect| effect.layer.clone()).collect()
}

/// A line for every module, or else operator, whose products are quantized.
fn layers(graph: &Graph, options: &Options) -> Vec<Layer> {
    let schemes = annotate(graph, options).schemes;
    let quantized = graph.nodes.iter().zip(&schemes).filter(|(_, scheme)| **scheme != Scheme::Float);
    let products = quantized.filter(|(node, _)| is_product(node));
    let names: BTreeSet<(&str, &str)> = products
        .map(|(node, _)| match module(graph, node) {
            "" => ("", node.operator.as_str()),
            module => (module, ""),
        })
        .collect();
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let line =
        |(name, operator): (&str, &str)| Layer { name: some(name), operator: some(operator), scheme: Scheme::Float };
    names.into_iter().map(line).collect()
}

/// What integers begin with: where no product is quantized, nothing is.
fn is_product(node: &Node) -> bool {
    matches!(rule::of(node), Some(Kind::Product { .. } | Kind::Matmul { .. } | Kind::Table))
}

/// What every attempt stands on.
struct Trial<'a> {
    graph: &'a Graph,
    options: &'a Options,
    samples: Samples<'a>,
    limit: &'a Limit<'a>,
    /// The outputs of the real program, by sample.
    real: Vec<Vec<OwnedTensor>>,
    /// Its right answers, where they are counted.
    right: Option<usize>,
    seen: Distributions,
    runs: usize,
}

impl<'a> Trial<'a> {
    fn new(
        graph: &'a Graph,
        options: &'a Options,
        samples: &'a Tensors,
        limit: &'a Limit<'a>,
    ) -> Result<Self, QuantizeError> {
        check_static(graph)?;
        let samples = Samples::of(graph, samples)?;
        let seen = Distributions::observe(graph, &annotate(graph, options), options.observer, &samples)?;
        let right = match limit {
            Limit::Answers { data, labels, .. } => Some(right_answers(graph, data, labels)?),
            Limit::Sqnr(_) => None,
        };
        let real = outputs(graph, &samples)?;
        Ok(Self { graph, options, samples, limit, real, right, seen, runs: 0 })
    }

    /// The program with these layers real.
    fn program(&mut self, kept: &[Layer]) -> Result<Graph, QuantizeError> {
        self.runs += 1;
        let layers = [&self.options.layers[..], kept].concat();
        let options = Options { layers, ..self.options.clone() };
        let annotation: Annotation = annotate(self.graph, &options);
        let measured = self.seen.choose(self.graph, &annotation, options.observer)?;
        convert::convert(self.graph.clone(), &annotation, &measured, &options, (&InMemory, &Moments::new()))
            .map(prune::prune)
    }

    fn sqnr(&self, program: &Graph) -> Result<f64, QuantizeError> {
        let found = outputs(program, &self.samples)?;
        let pairs = self.real.iter().flatten().zip(found.iter().flatten());
        let real = pairs.filter(|(real, _)| real.scalar_type == ScalarType::Float);
        Ok(real.fold(Energy::default(), |sum, (real, found)| sum.plus(Energy::of(real, found))).decibels())
    }

    fn score(&mut self, kept: &[Layer]) -> Result<Score, QuantizeError> {
        let program = self.program(kept)?;
        let lost = match (self.limit, self.right) {
            (Limit::Answers { data, labels, .. }, Some(right)) => {
                let difference = |right: usize| i64::try_from(right).unwrap_or(i64::MAX);
                Some(difference(right) - difference(right_answers(&program, data, labels)?))
            }
            _ => None,
        };
        Ok(Score { sqnr: self.sqnr(&program)?, lost })
    }

    fn holds(&self, score: Score) -> bool {
        match self.limit {
            Limit::Sqnr(least) => score.sqnr >= *least,
            Limit::Answers { lost, .. } => score.lost.is_some_and(|found| usize::try_from(found).unwrap_or(0) <= *lost),
        }
    }

    fn effects(&mut self, layers: &[Layer], before: f64) -> Result<Vec<Effect>, QuantizeError> {
        let effect = |layer: &Layer| {
            let program = self.program(std::slice::from_ref(layer))?;
            Ok(Effect { layer: layer.clone(), gain: self.sqnr(&program)? - before })
        };
        layers.iter().map(effect).collect()
    }

    /// As few of the first as make the limit hold, found by halving; then without those that are not needed.
    fn fewest(&mut self, ranked: Vec<Effect>) -> Result<Vec<Effect>, QuantizeError> {
        let (mut too_few, mut enough) = (0, ranked.len());
        while enough.saturating_sub(too_few) > 1 {
            let middle = usize::midpoint(too_few, enough);
            let score = self.score(&lines(&ranked[..middle]))?;
            if self.holds(score) { enough = middle } else { too_few = middle }
        }
        let mut kept = ranked;
        kept.truncate(enough);
        // The last one is needed, or halving would have stopped before it.
        for index in (0..kept.len().saturating_sub(1)).rev() {
            let mut fewer = kept.clone();
            fewer.remove(index);
            let score = self.score(&lines(&fewer))?;
            if self.holds(score) {
                kept = fewer;
            }
        }
        Ok(kept)
    }
}

/// What a graph computes from each sample.
fn outputs(graph: &Graph, samples: &Samples<'_>) -> Result<Vec<Vec<OwnedTensor>>, QuantizeError> {
    let runner = Runner::new(graph);
    let run = |sample| {
        let mut held = runner.start(&samples.inputs(sample));
        for (index, node) in graph.nodes.iter().enumerate() {
            runner.step(node, &mut held)?;
            runner.drop_unused_but(index, &graph.outputs, &mut held);
        }
        Ok(graph.outputs.iter().filter_map(|id| held.get(*id).cloned()).collect())
    };
    (0..samples.len()).into_par_iter().map(run).collect()
}
