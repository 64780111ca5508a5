//! What is quantized, and how.

use etbuild_ir::{Graph, Node, Program, ValueId};

use crate::pattern::matches;
use crate::rule;
use crate::{Observer, QuantizeError};

/// How weights and activations are quantized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Not at all.
    Float,
    /// Weights to 8 bits per channel, activations to 8 bits with ranges from samples.
    Int8,
    /// Weights to 8 bits per channel, activations to 8 bits with ranges taken while running.
    DynamicInt8,
    /// Weights to 8 bits per channel.
    Int8Weights,
    /// Weights to 4 bits in groups.
    Int4Weights,
    /// Weights to 4 bits in groups, activations to 8 bits per row with ranges taken while running.
    Dynamic8Weight4,
}

/// How embedding tables are quantized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Embedding {
    /// To 4 bits, in groups of a row.
    Weight4,
    /// To 8 bits, a scale for each row.
    Weight8,
}

/// What a part of the model does instead of the rest. What is absent matches everything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layer {
    /// A pattern for the module's path, such as `features.0.*`; `*` stands for any text.
    pub name: Option<String>,
    /// An operator, such as `linear` or `aten.linear.default`.
    pub operator: Option<String>,
    /// How it is quantized.
    pub scheme: Scheme,
}

/// All that decides about a quantization beside the samples.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// How layers are quantized that no other line is about.
    pub scheme: Scheme,
    /// How ranges are chosen.
    pub observer: Observer,
    /// How many neighbouring weights of a row share a scale where the scheme has groups; [`Options::GROUP`] where absent.
    pub group_size: Option<usize>,
    /// How embedding tables are quantized. Where absent, only those are that a product of 4 bits reads too.
    pub embedding: Option<Embedding>,
    /// Exceptions; of those that match a node the last one decides.
    pub layers: Vec<Layer>,
}

impl Options {
    /// The size of groups where none is written.
    pub const GROUP: usize = 32;

    /// The scheme for everything, without exceptions.
    pub fn new(scheme: Scheme) -> Self {
        Self { scheme, observer: Observer::MinMax, group_size: None, embedding: None, layers: Vec::new() }
    }

    /// How many neighbours have a scale in rows of this length: all where it is no multiple of the group size.
    pub fn group_of(&self, length: usize) -> usize {
        let size = self.group_size.unwrap_or(Self::GROUP);
        if size > 0 && length.is_multiple_of(size) { size } else { length }
    }

    /// The scheme of a node, and whether a line about its operator asks for it.
    pub fn scheme_of(&self, graph: &Graph, node: &Node) -> (Scheme, bool) {
        let found = self.layers.iter().rev().find(|layer| layer.is_about(graph, node));
        found.map_or((self.scheme, false), |layer| (layer.scheme, layer.operator.is_some()))
    }

    /// Whether every layer is about something.
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

    /// The modules, or else the operators, that a layer could be about.
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

/// The module that computes a node's output; empty where the archive does not say.
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
