//! Search for the layers to keep in float so that the loss stays within a limit, guided by the effect of each layer.

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

/// The limit on the loss of the quantized program.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit<'a> {
    /// The smallest signal-to-noise ratio of the outputs on the samples, in decibels.
    Sqnr(f64),
    /// The largest loss of correct predictions.
    Answers {
        /// Inputs by name.
        data: &'a Tensors,
        /// The label of each sample.
        labels: &'a [i64],
        /// The number of correct predictions that may be lost.
        lost: usize,
    },
}

/// The layers to keep in float, and the effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Exceptions for [`Options::layers`], the largest effect first.
    pub kept: Vec<Effect>,
    /// The number of candidate layers.
    pub layers: usize,
    /// The scores without and with these exceptions.
    pub scores: [Score; 2],
    /// The number of runs of quantized programs.
    pub runs: usize,
}

/// The effect of keeping a layer in float.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The exception for the layer.
    pub layer: Layer,
    /// The signal-to-noise ratio of the outputs with only this layer in float, minus the ratio with every layer
    /// quantized, in decibels.
    pub gain: f64,
}

/// The score of a quantized program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The signal-to-noise ratio of the outputs, in decibels; infinite without loss.
    pub sqnr: f64,
    /// The correct predictions lost against the float program, if counted; negative for a gain.
    pub lost: Option<i64>,
}

/// The layers to keep in float so that `limit` holds: a minimal prefix of the layers ordered by effect, without the
/// layers that turn out to be unnecessary.
///
/// Observes ranges once. Each layer takes a run of a quantized program over all samples. Each kept layer, and each
/// halving of the number of layers, takes another run; with a limit on predictions, also over the labelled data.
///
/// # Errors
/// Errors of [`crate::quantize`] and [`crate::compare`], and unfit labels.
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

/// An exception for every module, or else operator, with a quantized GEMM or convolution.
fn layers(graph: &Graph, options: &Options) -> Vec<Layer> {
    let schemes = annotate(graph, options).schemes;
    let quantized = graph.nodes.iter().zip(&schemes).filter(|(_, scheme)| **scheme != Scheme::Float);
    let products = quantized.filter(|(node, _)| is_gemm(node));
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

/// Whether the node creates int8 demand: GEMM and convolution do.
fn is_gemm(node: &Node) -> bool {
    matches!(rule::of(node), Some(Kind::Gemm { .. } | Kind::Matmul { .. } | Kind::Embedding))
}

/// The data that all attempts share.
struct Trial<'a> {
    graph: &'a Graph,
    options: &'a Options,
    samples: Samples<'a>,
    limit: &'a Limit<'a>,
    /// The outputs of the float program, by sample.
    float: Vec<Vec<OwnedTensor>>,
    /// The correct predictions of the float program, if counted.
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
        let float = outputs(graph, &samples)?;
        Ok(Self { graph, options, samples, limit, float, right, seen, runs: 0 })
    }

    /// The quantized program with these layers in float.
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
        let pairs = self.float.iter().flatten().zip(found.iter().flatten());
        let float = pairs.filter(|(float, _)| float.scalar_type == ScalarType::Float);
        Ok(float.fold(Energy::default(), |sum, (float, found)| sum.plus(Energy::of(float, found))).decibels())
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

    /// The shortest prefix that satisfies the limit, by bisection; then without unnecessary layers.
    fn fewest(&mut self, ranked: Vec<Effect>) -> Result<Vec<Effect>, QuantizeError> {
        let (mut too_few, mut enough) = (0, ranked.len());
        while enough.saturating_sub(too_few) > 1 {
            let middle = usize::midpoint(too_few, enough);
            let score = self.score(&lines(&ranked[..middle]))?;
            if self.holds(score) { enough = middle } else { too_few = middle }
        }
        let mut kept = ranked;
        kept.truncate(enough);
        // The last layer is necessary: otherwise bisection would have found a shorter prefix.
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

/// The outputs of a graph for each sample.
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
