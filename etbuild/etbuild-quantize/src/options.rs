//! Options of quantization.

use etbuild_ir::{Graph, Node, Program, ValueId};

use crate::pattern::matches;
use crate::rule;
use crate::want::Want;
use crate::{Observer, QuantizeError};

/// Quantization schemes of weights and activations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// No quantization.
    Float,
    /// The integers that a model stores stay, with int8 activations with a scale for each 32, or for each block of the weights, at run time; other weights stay float.
    Stored,
    /// Per-channel int8 weights, int8 activations with static qparams from calibration.
    Int8,
    /// As [`Scheme::Int8`], with per-channel int4 weights but for grouped convolutions.
    Int8x4,
    /// Per-channel int8 weights, int8 activations with per-tensor qparams at run time.
    DynamicInt8,
    /// Per-channel int8 weights, float activations.
    Int8Weights,
    /// Blockwise int4 weights, float activations.
    Int4Weights,
    /// Blockwise int4 weights, int8 activations with per-token qparams at run time.
    Dynamic8Weight4,
    /// Every operator in integers, for NPUs: per-channel int8 weights, int8 activations with static qparams.
    W8A8,
    /// As [`Scheme::W8A8`], with int16 activations.
    W8A16,
    /// As [`Scheme::W8A16`], with int4 weights of linear layers: per-channel, or blockwise.
    W4A16,
    /// As [`Scheme::W8A16`], with symmetric int16 activations: TensorFlow Lite's 16x8, for microcontrollers.
    Int16x8,
}

impl Scheme {
    /// Whether float weights become integers; else only those that the model stores are.
    pub const fn rounds_weights(self) -> bool {
        !matches!(self, Self::Float | Self::Stored)
    }

    /// Whether activations are int8, so that a backend computes in integers.
    pub const fn rounds_activations(self) -> bool {
        matches!(self, Self::Stored | Self::DynamicInt8 | Self::Dynamic8Weight4) || self.is_static()
    }

    /// Whether activations have static qparams.
    pub const fn is_static(self) -> bool {
        matches!(self, Self::Int8 | Self::Int8x4) || self.is_whole()
    }

    /// Whether at most weights are quantized at build time: activations stay float, or get their scales at run time.
    pub const fn is_for_rows(self) -> bool {
        !matches!(self, Self::Float) && !self.is_static()
    }

    /// Whether every operator with a rule computes in integers, also where no neighbour does.
    pub const fn is_whole(self) -> bool {
        matches!(self, Self::W8A8 | Self::W8A16 | Self::W4A16 | Self::Int16x8)
    }

    /// The scheme of a convolution of groups, whose few weights per channel stay int8.
    pub const fn of_groups(self) -> Self {
        match self {
            Self::Int8x4 => Self::Int8,
            scheme => scheme,
        }
    }

    /// The demand for an activation with static qparams.
    pub const fn activation(self) -> Want {
        match self {
            Self::W8A16 | Self::W4A16 => Want::Int16,
            Self::Int16x8 => Want::SymmetricInt16,
            _ => Want::Int8,
        }
    }
}

/// Quantized forms of embedding tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Embedding {
    /// int4, in groups of a row.
    Weight4,
    /// int8, with a scale per row.
    Weight8,
}

/// An exception for some layers. An absent condition matches every layer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layer {
    /// A pattern for the module's path, such as `features.0.*`; `*` stands for any text.
    pub name: Option<String>,
    /// An operator, such as `linear` or `aten.linear.default`.
    pub operator: Option<String>,
    /// The scheme of the matching layers.
    pub scheme: Scheme,
}

/// All options of a quantization.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The scheme of layers without an exception.
    pub scheme: Scheme,
    /// The observer for activations and weights.
    pub observer: Observer,
    /// The number of neighbouring weights per scale in blockwise schemes; [`Options::GROUP`] by default.
    pub group_size: Option<usize>,
    /// The form of embedding tables. By default, only tables that a quantized GEMM reads too are quantized.
    pub embedding: Option<Embedding>,
    /// Exceptions; the last matching exception decides.
    pub layers: Vec<Layer>,
}

impl Options {
    /// The default group size.
    pub const GROUP: usize = 32;

    /// A scheme without exceptions.
    pub fn new(scheme: Scheme) -> Self {
        Self { scheme, observer: Observer::MinMax, group_size: None, embedding: None, layers: Vec::new() }
    }

    /// The group size for rows of this length: the whole row if not a multiple of the group size.
    pub fn group_of(&self, length: usize) -> usize {
        let size = self.group_size.unwrap_or(Self::GROUP);
        if size > 0 && length.is_multiple_of(size) { size } else { length }
    }

    /// The largest multiple of a row's scale that the scale of an int4 group may be: 4 bits on NPUs, else 8 bits.
    pub fn most_multiples(&self) -> u8 {
        if self.scheme.is_whole() { 15 } else { 255 }
    }

    /// Whether the activations of some layer have static qparams.
    pub fn has_static_ranges(&self) -> bool {
        self.scheme.is_static() || self.layers.iter().any(|layer| layer.scheme.is_static())
    }

    /// The scheme of a node, and whether an exception names the operator.
    pub fn scheme_of(&self, graph: &Graph, node: &Node) -> (Scheme, bool) {
        let found = self.layers.iter().rev().find(|layer| layer.is_about(graph, node));
        found.map_or((self.scheme, false), |layer| (layer.scheme, layer.operator.is_some()))
    }

    /// Checks that every exception matches a layer.
    pub fn check(&self, program: &Program) -> Result<(), QuantizeError> {
        for (index, layer) in self.layers.iter().enumerate() {
            let mut nodes =
                program.methods.values().flat_map(|graph| graph.nodes.iter().map(move |node| (graph, node)));
            if !nodes.any(|(graph, node)| rule::of(node).is_some() && layer.is_about(graph, node)) {
                return Err(QuantizeError::Unmatched {
                    layer: index,
                    what: layer.describe(),
                    known: layer.known(program),
                });
            }
        }
        Ok(())
    }
}

impl Layer {
    fn is_about(&self, graph: &Graph, node: &Node) -> bool {
        let operator = self.operator.as_ref().is_none_or(|wanted| names(node, wanted));
        operator && self.name.as_ref().is_none_or(|pattern| matches(pattern, module(graph, node)))
    }

    fn describe(&self) -> String {
        let name = self.name.as_ref().map(|name| format!("name `{name}`"));
        let operator = self.operator.as_ref().map(|operator| format!("operator `{operator}`"));
        name.into_iter().chain(operator).collect::<Vec<_>>().join(" with ")
    }

    /// The modules, or the operators, that an exception could match.
    fn known(&self, program: &Program) -> Vec<String> {
        let mut known: Vec<String> = Vec::new();
        for graph in program.methods.values() {
            let nodes = graph.nodes.iter().filter(|node| rule::of(node).is_some());
            match self.name {
                Some(_) => known.extend(nodes.map(|node| module(graph, node).to_owned())),
                None => known.extend(nodes.map(|node| plain_name(node).to_owned())),
            }
        }
        known.retain(|name| !name.is_empty());
        known.sort();
        known.dedup();
        known.truncate(6);
        known
    }
}

/// The module of a node; empty if unknown.
pub fn module<'g>(graph: &'g Graph, node: &Node) -> &'g str {
    let first: Option<&ValueId> = node.outputs.first();
    first.and_then(|id| graph.origins.get(*id)).map_or("", |origin| origin)
}

fn names(node: &Node, wanted: &str) -> bool {
    [node.operator.as_str(), node.operator.name(), plain_name(node)].contains(&wanted)
}

/// `softmax` of `aten._softmax.default`.
fn plain_name(node: &Node) -> &str {
    node.operator.name().trim_start_matches('_')
}
