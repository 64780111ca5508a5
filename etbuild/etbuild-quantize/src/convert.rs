//! Conversion: inserts quantize and dequantize nodes, and stores weights as integers.

mod activation;
mod builder;
mod cache;
mod table;
mod weights;

use etbuild_ir::{Argument, Control, Graph, IdMap, Node, ValueId};

use crate::annotate::{self, Annotation};
use crate::calibrate::Measured;
use crate::options::{Embedding, Options, Scheme};
use crate::parameters::Bounds;
use crate::rule::{self, Kind};
use crate::{Keeper, Moments, QuantizeError};

use builder::Builder;
use weights::Weights;

/// Quantizes a graph according to the annotation.
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
    let Conversion { builder: Builder { mut graph, .. }, weights, dequantized, recurrent, .. } = conversion;
    graph.replace_results(|id| recurrent.get(id).copied().unwrap_or(id));
    if options.scheme.is_whole() {
        // An NPU writes integers in any case; the caller gets what they represent.
        graph.replace_results(|id| dequantized.get(id).copied().unwrap_or(id));
    }
    weights.sources().drop_unread(&mut graph);
    Ok(graph)
}

/// The dequantized forms of a value.
type Replacements = IdMap<Vec<(Form, ValueId)>>;

/// What dequantized forms of a value differ in.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// The scheme.
    Scheme(Scheme),
    /// The elements of a row that have a scale, of the scheme for stored integers.
    Blocks(i64),
}

/// The activations that share a scale where weights are stored integers with scales of smaller blocks.
const ROW_BLOCK: i64 = 32;

struct Conversion<'a> {
    builder: Builder,
    annotation: &'a Annotation,
    measured: &'a Measured,
    options: &'a Options,
    weights: Weights<'a>,
    /// Embedding tables that a GEMM reads too, with the scheme of the GEMM.
    shared: IdMap<Scheme>,
    /// The dequantized form of tensors with static qparams.
    dequantized: IdMap<ValueId>,
    /// The dequantized form of KV caches in integers.
    caches: IdMap<ValueId>,
    /// The dequantized form of the results of recurrent layers in integers, for all readers.
    recurrent: IdMap<ValueId>,
    /// The dequantized forms of weights, and of activations with dynamic qparams.
    made: Replacements,
    /// Whether the graph has control flow.
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
        let (builder, dequantized, made) = (Builder::new(graph), IdMap::default(), IdMap::default());
        let (caches, recurrent) = (IdMap::default(), IdMap::default());
        Self { builder, annotation, measured, options, weights, shared, dequantized, caches, recurrent, made, jumps }
    }

    fn convert(&mut self, mut node: Node, scheme: Scheme) {
        self.builder.set_origin(&node);
        node.replace_uses(|id| self.recurrent.get(id).copied().unwrap_or(id));
        let kind = rule::of(&node);
        match kind {
            Some(Kind::Gemm { input, weight, channel, bias }) if scheme != Scheme::Float => {
                let scheme = if rule::is_grouped(&node) { scheme.of_groups() } else { scheme };
                self.product(&mut node, [input, weight, channel, bias], scheme);
            }
            Some(Kind::Experts { input, weights }) if scheme != Scheme::Float => {
                self.experts(&mut node, [input, weights], scheme);
            }
            Some(Kind::Recurrent) if scheme != Scheme::Float => self.recurrent(&mut node),
            Some(Kind::Embedding) => node = self.table(&node).unwrap_or(node),
            Some(Kind::Cache) if scheme.is_whole() => return self.cache(node),
            Some(_) if scheme.is_static() => self.operands(&mut node),
            _ => {}
        }
        let outputs = node.outputs.clone();
        self.builder.graph.nodes.push(node);
        for id in outputs {
            self.quantize(id);
            if let (Some(Kind::Recurrent), Some(real)) =
                (kind.filter(|_| scheme != Scheme::Float), self.dequantized.get(id))
            {
                self.recurrent.insert(id, *real);
            }
        }
    }

    /// Adds quantize and dequantize for a tensor, if annotated.
    fn quantize(&mut self, id: ValueId) {
        let Some(integers) = self.annotation.integers(id) else { return };
        if let Some(parameters) = self.measured.parameters(self.annotation, id) {
            let dequantized = activation::round_trip(&mut self.builder, id, parameters, integers);
            self.dequantized.insert(id, dequantized);
        }
    }

    /// Replaces the operands of a node by the dequantized operands.
    fn operands(&mut self, node: &mut Node) {
        let is_new = |id: &ValueId| self.builder.graph.constant(*id).is_some() && self.dequantized.get(*id).is_none();
        let constants: Vec<ValueId> = node.uses().filter(is_new).collect();
        constants.into_iter().for_each(|id| self.constant(id));
        node.replace_uses(|id| self.dequantized.get(id).or_else(|| self.caches.get(id)).copied().unwrap_or(id));
    }

    /// Writes rows to a KV cache of int8, which readers dequantize.
    fn cache(&mut self, node: Node) {
        let rows = annotate::tensor(&node, 1);
        let known = rows.and_then(|id| Some((id, self.measured.parameters(self.annotation, id)?)));
        let Some((rows, wide)) = known else { return self.builder.graph.nodes.push(node) };
        let narrow = wide.narrowed(self.annotation.bounds(rows), Bounds::ACTIVATION);
        let rows = self.dequantized.get(rows).copied().unwrap_or(rows);
        if let Some((written, dequantized)) = cache::write(&mut self.builder, node, rows, narrow) {
            self.caches.insert(written, dequantized);
        }
    }

    /// Stores a constant operand as int8.
    fn constant(&mut self, id: ValueId) {
        let parameters = self.measured.parameters(self.annotation, id).zip(self.annotation.integers(id));
        let dequantized = parameters
            .and_then(|(parameters, integers)| activation::stored(&mut self.builder, id, parameters, integers));
        if let Some(dequantized) = dequantized {
            self.dequantized.insert(id, dequantized);
        }
    }

    fn product(&mut self, node: &mut Node, [input, weight, channel, bias]: [usize; 4], scheme: Scheme) {
        let (Some(input), Some(weight)) = (annotate::tensor(node, input), annotate::tensor(node, weight)) else {
            return;
        };
        let measured = self.measured.parameters(self.annotation, input).filter(|_| scheme.is_static());
        let least =
            measured.map(|input| weights::least_scales(&self.builder, annotate::tensor(node, bias), input.scale));
        let least = least.unwrap_or_default();
        let stays = self.weights.sources().stay(weight, scheme);
        let new_weight = self.once(weight, Form::Scheme(scheme), |conversion| {
            if stays {
                return Some(weight);
            }
            let constant = conversion.weights.sources().constant(&conversion.builder.graph, weight);
            match constant.and_then(|id| conversion.shared.get(id)) {
                Some(_) if channel == 0 => conversion.weights.by_rows(&mut conversion.builder, weight, scheme),
                _ => conversion.weights.stored(&mut conversion.builder, weight, channel, scheme, &least),
            }
        });
        let new_input = self.activations(input, weight, scheme);
        let Some(new_weight) = new_weight else { return };
        for argument in &mut node.arguments {
            match argument {
                Argument::Value(id) if *id == weight => *id = new_weight,
                Argument::Value(id) if *id == input => *id = new_input.unwrap_or(input),
                _ => {}
            }
        }
    }

    /// The dequantized form of the activations of a layer; `None` where a scheme is for weights alone.
    fn activations(&mut self, input: ValueId, weight: ValueId, scheme: Scheme) -> Option<ValueId> {
        let form = Form::Scheme(scheme);
        match scheme {
            Scheme::Int8 | Scheme::Int8x4 | Scheme::W8A8 | Scheme::W8A16 | Scheme::W4A16 | Scheme::Int16x8 => {
                self.dequantized.get(input).copied()
            }
            Scheme::DynamicInt8 => {
                self.once(input, form, |conversion| Some(activation::dynamic(&mut conversion.builder, input)))
            }
            Scheme::Dynamic8Weight4 => {
                self.once(input, form, |conversion| Some(activation::by_rows(&mut conversion.builder, input)))
            }
            Scheme::Stored => match self.row_block(input, weight) {
                Some(block) => self.once(input, Form::Blocks(block), |conversion| {
                    Some(activation::by_blocks(&mut conversion.builder, input, block))
                }),
                None => self.once(input, form, |conversion| Some(activation::by_rows(&mut conversion.builder, input))),
            },
            Scheme::Float | Scheme::Int8Weights | Scheme::Int4Weights => None,
        }
    }

    /// The activations that share a scale: as many blocks of the weights as [`ROW_BLOCK`] has room for; `None` for whole rows.
    fn row_block(&self, input: ValueId, weight: ValueId) -> Option<i64> {
        let row = self.builder.graph.spec(input).sizes.last().copied().map(i64::from)?;
        let group = self.weights.sources().group(weight).filter(|group| (1..row).contains(group))?;
        let blocks = (1..=(ROW_BLOCK / group).max(1)).rev().map(|count| count * group);
        blocks.into_iter().find(|block| row % block == 0).filter(|block| *block < row)
    }

    /// Stores the matrices of all experts as integers.
    fn experts(&mut self, node: &mut Node, [input, weights]: [usize; 2], scheme: Scheme) {
        let Some(read) = annotate::tensor(node, input) else { return };
        let Some(Argument::Values(matrices)) = node.arguments.get_mut(weights) else { return };
        for id in matrices.iter_mut().flatten() {
            let weight = *id;
            if !self.weights.sources().stay(weight, scheme) {
                let stored = self.once(weight, Form::Scheme(scheme), |conversion| {
                    conversion.weights.stored(&mut conversion.builder, weight, 0, scheme, &[])
                });
                *id = stored.unwrap_or(weight);
            }
        }
        let rows = matrices.iter().flatten().next().copied().and_then(|first| self.activations(read, first, scheme));
        if let (Some(rows), Some(argument)) = (rows, node.arguments.get_mut(input)) {
            *argument = Argument::Value(rows);
        }
    }

    /// Stores the matrices of a recurrent layer as int8; biases stay float.
    fn recurrent(&mut self, node: &mut Node) {
        self.operands(node);
        let Some(Argument::Values(parameters)) = node.arguments.get_mut(2) else { return };
        for id in parameters.iter_mut().flatten() {
            if self.builder.graph.spec(*id).rank() == 2 {
                let weight = *id;
                let stored = self.once(weight, Form::Scheme(Scheme::Int8), |conversion| {
                    conversion.weights.stored(&mut conversion.builder, weight, 0, Scheme::Int8, &[])
                });
                *id = stored.unwrap_or(weight);
            }
        }
    }

    /// A dequantized form of a value, created at the first call.
    fn once(&mut self, id: ValueId, form: Form, make: impl FnOnce(&mut Self) -> Option<ValueId>) -> Option<ValueId> {
        if self.jumps {
            // With control flow, the value may be skipped at run time: each use gets a dequantized form.
            return make(self);
        }
        let known = self.made.get(id).and_then(|all| all.iter().find(|(of, _)| *of == form));
        if let Some((_, made)) = known {
            return Some(*made);
        }
        let made = make(self)?;
        match self.made.get_mut(id) {
            Some(all) => all.push((form, made)),
            None => drop(self.made.insert(id, vec![(form, made)])),
        }
        Some(made)
    }

    /// The node with a quantized embedding table; `None` where the table stays float.
    fn table(&mut self, node: &Node) -> Option<Node> {
        let graph = &self.builder.graph;
        if self.options.scheme_of(graph, node).0 == Scheme::Float {
            return None;
        }
        if node.outputs.iter().any(|id| self.weights.sources().is_gathered(*id)) {
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

/// The embedding tables that share integers with a GEMM: tables of the same width, unless the options ask for another
/// form.
fn shared(graph: &Graph, annotation: &Annotation, options: &Options, weights: &Weights<'_>) -> IdMap<Scheme> {
    let constant = |id: Option<ValueId>| id.and_then(|id| weights.sources().constant(graph, id));
    let (mut tables, mut found) = (IdMap::default(), IdMap::default());
    for node in graph.nodes.iter().filter(|node| matches!(rule::of(node), Some(Kind::Embedding))) {
        let id = constant(annotate::tensor(node, 0)).filter(|_| options.scheme_of(graph, node).0 != Scheme::Float);
        if let Some(id) = id {
            tables.insert(id, ());
        }
    }
    for (node, scheme) in graph.nodes.iter().zip(&annotation.schemes) {
        let Some(Kind::Gemm { weight, .. }) = rule::of(node) else { continue };
        let form = match scheme {
            Scheme::Int4Weights | Scheme::Dynamic8Weight4 => Embedding::Weight4,
            Scheme::Int8Weights | Scheme::DynamicInt8 => Embedding::Weight8,
            Scheme::Float | Scheme::Stored | Scheme::Int8 | Scheme::Int8x4 => continue,
            Scheme::W8A8 | Scheme::W8A16 | Scheme::W4A16 | Scheme::Int16x8 => continue,
        };
        let id = constant(annotate::tensor(node, weight)).filter(|id| tables.get(*id).is_some());
        if let Some(id) = id.filter(|_| options.embedding.is_none_or(|wanted| wanted == form)) {
            found.insert(id, *scheme);
        }
    }
    found
}
