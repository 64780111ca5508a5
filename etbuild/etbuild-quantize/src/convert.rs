//! Rewriting a graph: quantizing and dequantizing where the annotation says so, weights as integers.

mod activation;
mod builder;
mod table;
mod weights;

use etbuild_ir::{Argument, Control, Graph, IdMap, Node, ValueId};

use crate::annotate::{self, Annotation};
use crate::calibrate::Measured;
use crate::options::{Embedding, Options, Scheme};
use crate::rule::{self, Kind};
use crate::{Keeper, Moments, QuantizeError};

use builder::Builder;
use weights::Weights;

/// The graph in which everything that is annotated is quantized.
pub fn convert(
    graph: Graph,
    annotation: &Annotation,
    measured: &Measured,
    options: &Options,
    (keeper, moments): (&dyn Keeper, &Moments),
) -> Result<Graph, QuantizeError> {
    let weights = Weights::new(&graph, options, (keeper, moments));
    let mut conversion = Conversion::new(graph, annotation, measured, options, weights);
    let inputs = conversion.builder.graph.inputs.clone();
    let nodes = std::mem::take(&mut conversion.builder.graph.nodes);
    inputs.into_iter().for_each(|id| conversion.quantize(id));
    for (index, node) in nodes.into_iter().enumerate() {
        let scheme = annotation.schemes.get(index).copied().unwrap_or(Scheme::Float);
        conversion.convert(node, scheme);
    }
    let Conversion { builder: Builder { mut graph, .. }, weights, .. } = conversion;
    weights.sources().drop_unread(&mut graph);
    Ok(graph)
}

/// What stands for a value, with the scheme that made it.
type Replacements = IdMap<Vec<(Scheme, ValueId)>>;

struct Conversion<'a> {
    builder: Builder,
    annotation: &'a Annotation,
    measured: &'a Measured,
    options: &'a Options,
    weights: Weights<'a>,
    /// The tables that products read too, with the scheme of those.
    shared: IdMap<Scheme>,
    /// What a tensor of ranges that were measured is after a round trip through integers.
    rounded: IdMap<ValueId>,
    /// The same for weights, and for activations with ranges that are taken while running.
    others: Replacements,
    /// Whether nodes are passed over while running.
    jumps: bool,
}

impl<'a> Conversion<'a> {
    fn new(
        graph: Graph,
        annotation: &'a Annotation,
        measured: &'a Measured,
        options: &'a Options,
        weights: Weights<'a>,
    ) -> Self {
        let jumps = graph.nodes.iter().any(|node| Control::of(node).is_some());
        let shared = shared(&graph, annotation, options, &weights);
        let (builder, rounded, others) = (Builder::new(graph), IdMap::default(), IdMap::default());
        Self { builder, annotation, measured, options, weights, shared, rounded, others, jumps }
    }

    fn convert(&mut self, mut node: Node, scheme: Scheme) {
        self.builder.stand_at(&node);
        let kind = rule::of(&node);
        match kind {
            Some(Kind::Product { input, weight, channel, bias }) if scheme != Scheme::Float => {
                self.product(&mut node, [input, weight, channel, bias], scheme);
            }
            Some(Kind::Table) => node = self.table(&node).unwrap_or(node),
            Some(_) if scheme == Scheme::Int8 => self.operands(&mut node),
            _ => {}
        }
        let outputs = node.outputs.clone();
        self.builder.graph.nodes.push(node);
        outputs.into_iter().for_each(|id| self.quantize(id));
    }

    /// Adds the round trip of a tensor, if it is one that becomes integers.
    fn quantize(&mut self, id: ValueId) {
        if !self.annotation.is_quantized(id) {
            return;
        }
        if let Some(parameters) = self.measured.parameters(self.annotation, id) {
            let rounded = activation::round_trip(&mut self.builder, id, parameters);
            self.rounded.insert(id, rounded);
        }
    }

    /// Lets a node read what its operands are after the round trip.
    fn operands(&mut self, node: &mut Node) {
        let is_new = |id: &ValueId| self.builder.graph.constant(*id).is_some() && self.rounded.get(*id).is_none();
        let constants: Vec<ValueId> = node.uses().filter(is_new).collect();
        constants.into_iter().for_each(|id| self.constant(id));
        node.replace_uses(|id| self.rounded.get(id).copied().unwrap_or(id));
    }

    /// A constant operand becomes integers here and now.
    fn constant(&mut self, id: ValueId) {
        let wanted = self.annotation.is_quantized(id);
        let parameters = self.measured.parameters(self.annotation, id).filter(|_| wanted);
        let rounded = parameters.and_then(|parameters| activation::stored(&mut self.builder, id, parameters));
        if let Some(rounded) = rounded {
            self.rounded.insert(id, rounded);
        }
    }

    fn product(&mut self, node: &mut Node, [input, weight, channel, bias]: [usize; 4], scheme: Scheme) {
        let (Some(input), Some(weight)) = (annotate::tensor(node, input), annotate::tensor(node, weight)) else {
            return;
        };
        let measured = self.measured.parameters(self.annotation, input).filter(|_| scheme == Scheme::Int8);
        let least =
            measured.map(|input| weights::least_scales(&self.builder, annotate::tensor(node, bias), input.scale));
        let least = least.unwrap_or_default();
        let new_weight = self.once(weight, scheme, |conversion| {
            let constant = conversion.weights.sources().constant(&conversion.builder.graph, weight);
            match constant.and_then(|id| conversion.shared.get(id)) {
                Some(_) if channel == 0 => conversion.weights.by_rows(&mut conversion.builder, weight, scheme),
                _ => conversion.weights.stored(&mut conversion.builder, weight, channel, scheme, &least),
            }
        });
        let new_input = match scheme {
            Scheme::Int8 => self.rounded.get(input).copied(),
            Scheme::DynamicInt8 => {
                self.once(input, scheme, |conversion| Some(activation::dynamic(&mut conversion.builder, input)))
            }
            Scheme::Dynamic8Weight4 => {
                self.once(input, scheme, |conversion| Some(activation::by_rows(&mut conversion.builder, input)))
            }
            Scheme::Float | Scheme::Int8Weights | Scheme::Int4Weights => None,
        };
        let Some(new_weight) = new_weight else { return };
        for argument in &mut node.arguments {
            match argument {
                Argument::Value(id) if *id == weight => *id = new_weight,
                Argument::Value(id) if *id == input => *id = new_input.unwrap_or(input),
                _ => {}
            }
        }
    }

    /// What stands for a value in a scheme; made at the first call.
    fn once(
        &mut self,
        id: ValueId,
        scheme: Scheme,
        make: impl FnOnce(&mut Self) -> Option<ValueId>,
    ) -> Option<ValueId> {
        if self.jumps {
            // What one way computes, another may not have.
            return make(self);
        }
        let known = self.others.get(id).and_then(|all| all.iter().find(|(of, _)| *of == scheme));
        if let Some((_, made)) = known {
            return Some(*made);
        }
        let made = make(self)?;
        match self.others.get_mut(id) {
            Some(all) => all.push((scheme, made)),
            None => drop(self.others.insert(id, vec![(scheme, made)])),
        }
        Some(made)
    }

    /// The node with a table of integers; `None` where it stays as it is.
    fn table(&mut self, node: &Node) -> Option<Node> {
        let graph = &self.builder.graph;
        if self.options.scheme_of(graph, node).0 == Scheme::Float {
            return None;
        }
        let constant = self.weights.sources().constant(graph, annotate::tensor(node, 0)?)?;
        match (self.shared.get(constant), self.options.embedding) {
            (Some(scheme), _) => table::shared(&mut self.builder, &mut self.weights, node, *scheme),
            (None, Some(form)) => table::alone(&mut self.builder, &self.weights, node, (form, self.options)),
            (None, None) => None,
        }
    }
}

/// The tables whose integers a product has too: those of 4 bits, or of 8, unless the options want others for tables.
fn shared(graph: &Graph, annotation: &Annotation, options: &Options, weights: &Weights<'_>) -> IdMap<Scheme> {
    let constant = |id: Option<ValueId>| id.and_then(|id| weights.sources().constant(graph, id));
    let (mut tables, mut found) = (IdMap::default(), IdMap::default());
    for node in graph.nodes.iter().filter(|node| matches!(rule::of(node), Some(Kind::Table))) {
        let id = constant(annotate::tensor(node, 0)).filter(|_| options.scheme_of(graph, node).0 != Scheme::Float);
        if let Some(id) = id {
            tables.insert(id, ());
        }
    }
    for (node, scheme) in graph.nodes.iter().zip(&annotation.schemes) {
        let Some(Kind::Product { weight, .. }) = rule::of(node) else { continue };
        let form = match scheme {
            Scheme::Int4Weights | Scheme::Dynamic8Weight4 => Embedding::Weight4,
            Scheme::Int8Weights | Scheme::DynamicInt8 => Embedding::Weight8,
            Scheme::Float | Scheme::Int8 => continue,
        };
        let id = constant(annotate::tensor(node, weight)).filter(|id| tables.get(*id).is_some());
        if let Some(id) = id.filter(|_| options.embedding.is_none_or(|wanted| wanted == form)) {
            found.insert(id, *scheme);
        }
    }
    found
}
