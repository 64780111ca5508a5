//! Quantization loss: the signal-to-noise ratio of every tensor that the float and the quantized program compute.

use std::collections::{BTreeMap, BTreeSet};

use et_core::ScalarType;
use et_ops::call::OwnedTensor;
use etbuild_ir::{Graph, IdMap, Node, ValueId};
use rayon::prelude::*;

use crate::calibrate::check_static;
use crate::options::module;
use crate::run::{Held, Runner};
use crate::{QuantizeError, Samples, Tensors};

/// The loss at a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The output of the node.
    pub value: String,
    /// The operator of the node.
    pub operator: String,
    /// The module of the model's source; empty if unknown.
    pub module: String,
    /// Whether the node reads or writes quantized tensors.
    pub quantized: bool,
    /// Ten times the logarithm of the ratio of signal energy to error energy, over all samples, in decibels; infinite
    /// without error.
    pub sqnr: f64,
    /// The largest absolute error of an element, over all samples.
    pub max_error: f64,
}

/// The loss of every node with quantized operands, and of the consumers of these nodes, worst first. Samples run in
/// parallel and are summed in order.
///
/// # Errors
/// Unfit samples, graphs with control flow, kernel errors.
pub fn compare(float: &Graph, quantized: &Graph, samples: &Tensors) -> Result<Vec<Loss>, QuantizeError> {
    check_static(float)?;
    let samples = Samples::of(float, samples)?;
    let pair = Pair::of(float, quantized)?;
    let each: Vec<IdMap<Energy>> =
        (0..samples.len()).into_par_iter().map(|sample| pair.run(&samples, sample)).collect::<Result<_, _>>()?;
    let mut total: IdMap<Energy> = IdMap::default();
    for (id, energy) in each.iter().flat_map(IdMap::iter) {
        let sum = total.get(id).copied().unwrap_or_default().plus(*energy);
        total.insert(id, sum);
    }
    let mut losses = pair.losses(&total);
    losses.sort_by(|left, right| left.sqnr.total_cmp(&right.sqnr));
    Ok(losses)
}

/// Sums of squares, of the signal and of the error, and the largest error.
#[derive(Clone, Copy, Debug, Default)]
pub struct Energy {
    signal: f64,
    noise: f64,
    most: f64,
}

impl Energy {
    /// The energy of a tensor, and of the difference from the quantized tensor.
    pub fn of(float: &OwnedTensor, quantized: &OwnedTensor) -> Self {
        let elements = |tensor: &'_ OwnedTensor| tensor.bytes.as_chunks::<4>().0.to_vec();
        let pairs = elements(float).into_iter().zip(elements(quantized));
        pairs.fold(Self::default(), |sum, (left, right)| {
            let (left, right) = (f64::from(f32::from_le_bytes(left)), f64::from(f32::from_le_bytes(right)));
            sum.plus(Self::of_element(left, right))
        })
    }

    /// An element that is not a number differs from every number, by an infinite error.
    fn of_element(left: f64, right: f64) -> Self {
        let error = if left == right || left.is_nan() && right.is_nan() { 0.0 } else { (left - right).abs() };
        let error = if error.is_nan() { f64::INFINITY } else { error };
        let signal = if left.is_finite() { left * left } else { 0.0 };
        Self { signal, noise: error * error, most: error }
    }

    /// The sum of two energies.
    pub fn plus(self, other: Self) -> Self {
        let Self { signal, noise, most } = other;
        Self { signal: self.signal + signal, noise: self.noise + noise, most: self.most.max(most) }
    }

    /// The energy of two tensors that cannot be compared.
    pub const fn unlike() -> Self {
        Self { signal: 0.0, noise: f64::INFINITY, most: f64::INFINITY }
    }

    /// The largest absolute error.
    pub const fn max_error(self) -> f64 {
        self.most
    }

    /// Ten times the logarithm of the ratio of signal to error.
    pub fn decibels(self) -> f64 {
        if self.noise == 0.0 { f64::INFINITY } else { 10.0 * (self.signal / self.noise).log10() }
    }
}

/// A graph and the quantized graph. Values with the same name correspond.
struct Pair<'g> {
    float: &'g Graph,
    quantized: &'g Graph,
    runners: [Runner<'g>; 2],
    /// The values of the quantized graph, by name.
    names: BTreeMap<&'g str, ValueId>,
    /// The values that the quantized graph computes from constants: once for all samples.
    constants: Held<'g>,
    is_constant: Vec<bool>,
}

impl<'g> Pair<'g> {
    fn of(float: &'g Graph, quantized: &'g Graph) -> Result<Self, QuantizeError> {
        let names = quantized.values_with_ids().map(|(id, value)| (value.name.as_str(), id)).collect();
        let runners = [Runner::new(float), Runner::new(quantized)];
        let (mut constants, mut is_constant) = (Held::default(), Vec::new());
        for node in &quantized.nodes {
            let known = |id: ValueId| quantized.constant(id).is_some() || constants.get(id).is_some();
            is_constant.push(node.uses().all(known) && node.uses().next().is_some());
            if is_constant.last() == Some(&true) {
                runners[1].step(node, &mut constants)?;
            }
        }
        Ok(Self { float, quantized, runners, names, constants, is_constant })
    }

    /// Runs both graphs side by side: the quantized graph runs until it has computed the output of the float node.
    fn run(&self, samples: &Samples<'_>, sample: usize) -> Result<IdMap<Energy>, QuantizeError> {
        let inputs = samples.inputs(sample);
        let mut float = self.runners[0].start(&inputs);
        let mut quantized = self.runners[1].start(&inputs).on(&self.constants);
        let (mut found, mut at) = (IdMap::default(), 0);
        for (index, node) in self.float.nodes.iter().enumerate() {
            self.runners[0].step(node, &mut float)?;
            for (id, counterpart) in self.counterparts(node) {
                while quantized.get(counterpart).is_none() && at < self.quantized.nodes.len() {
                    self.advance(&mut at, &mut quantized)?;
                }
                if let (Some(left), Some(right)) = (float.get(id), quantized.get(counterpart)) {
                    found.insert(id, Energy::of(left, right));
                }
            }
            self.runners[0].drop_unused(index, &mut float);
        }
        Ok(found)
    }

    fn advance(&self, at: &mut usize, held: &mut Held<'_>) -> Result<(), QuantizeError> {
        if *at > 0 {
            self.runners[1].drop_unused(*at - 1, held);
        }
        if let Some(node) = self.quantized.nodes.get(*at).filter(|_| self.is_constant.get(*at) == Some(&false)) {
            self.runners[1].step(node, held)?;
        }
        *at += 1;
        Ok(())
    }

    /// The float outputs of a node, with the corresponding values of the quantized graph.
    fn counterparts<'s>(&'s self, node: &'s Node) -> impl Iterator<Item = (ValueId, ValueId)> + 's {
        let float = node.outputs.iter().filter(|id| self.float.spec(**id).scalar_type == ScalarType::Float);
        float.filter_map(|id| Some((*id, *self.names.get(self.float.value(*id).name.as_str())?)))
    }

    fn losses(&self, total: &IdMap<Energy>) -> Vec<Loss> {
        let operators = self.readers_of_integers();
        let nodes = self.float.nodes.iter().filter_map(|node| Some((node, *node.outputs.first()?)));
        let loss = |(node, id): (&Node, ValueId)| {
            let (energy, value) = (total.get(id)?, &self.float.value(id).name);
            Some(Loss {
                value: value.clone(),
                operator: node.operator.as_str().to_owned(),
                module: module(self.float, node).to_owned(),
                quantized: operators.contains(&value.as_str()),
                sqnr: energy.decibels(),
                max_error: energy.max_error(),
            })
        };
        nodes.filter_map(loss).filter(|loss| loss.sqnr.is_finite()).collect()
    }

    /// The outputs of nodes of the quantized graph that read dequantized tensors or that are quantized.
    fn readers_of_integers(&self) -> BTreeSet<&str> {
        let named = |start: &'static str| move |node: &&Node| node.operator.name().starts_with(start);
        let dequantizing = self.quantized.nodes.iter().filter(named("dequantize"));
        let dequantized: IdMap<()> = dequantizing.flat_map(|node| &node.outputs).map(|id| (*id, ())).collect();
        let reads = |node: &&Node| {
            let computes = node.operator.namespace() == "aten" && node.uses().any(|id| dequantized.get(id).is_some());
            computes || named("embedding_")(node)
        };
        let readers = self.quantized.nodes.iter().filter(reads).flat_map(|node| node.outputs.iter().copied());
        let quantizing = self.quantized.nodes.iter().filter(named("quantize_per_tensor"));
        let quantized = quantizing.filter_map(|node| node.uses().next());
        readers.chain(quantized).map(|id| self.quantized.value(id).name.as_str()).collect()
    }
}
