//! Stored weights: constants, possibly in half precision with a conversion to `float32`, or integers that a model brings along.

use std::collections::BTreeSet;

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, DequantizeAffine, Graph, IdMap, Node, ValueId};

use crate::options::Scheme;

/// The conversion operators before and after lowering.
const CONVERSIONS: [&str; 2] = ["aten._to_copy.default", "dim_order_ops._to_dim_order_copy.default"];

/// The stored weights of a graph.
#[derive(Debug, Default)]
pub struct Sources {
    /// The half-precision constants, by the converted `float32` value.
    halves: IdMap<ValueId>,
    /// The weights that the model stores as integers, by the `float32` value.
    integers: IdMap<Stored>,
    /// Gathered integers, scales and offsets, which become numbers together.
    gathered: IdMap<()>,
}

/// Weights that a model stores as integers.
#[derive(Clone, Copy, Debug)]
struct Stored {
    /// Whether they take 4 bits.
    is_int4: bool,
    /// Elements of a row that share a scale.
    group: i64,
}

impl Sources {
    /// The conversions of a graph.
    pub fn of(graph: &Graph) -> Self {
        let dequantizing = || graph.nodes.iter().filter(|node| DequantizeAffine::is(node));
        let parts = dequantizing().flat_map(Node::uses).filter(|id| graph.constant(*id).is_none());
        let parts: IdMap<()> = parts.map(|id| (id, ())).collect();
        // A table of offsets has the shape of the table of scales, and is read at the same rows.
        let lookups: Vec<Lookup<'_>> = graph.nodes.iter().filter_map(|node| Lookup::of(graph, node)).collect();
        let place = |one: &Lookup<'_>| (one.indices, one.sizes.to_vec());
        let read: BTreeSet<_> = lookups.iter().filter(|one| parts.get(one.rows).is_some()).map(place).collect();
        let beside = lookups.iter().filter(|one| read.contains(&place(one))).map(|one| one.rows);
        Self {
            halves: graph.nodes.iter().filter_map(|node| conversion(graph, node)).collect(),
            integers: dequantizing().filter_map(|node| stored(graph, node)).collect(),
            gathered: parts.iter().map(|(id, _)| id).chain(beside).map(|id| (id, ())).collect(),
        }
    }

    /// Whether the model stores the weights behind a value as integers of no more bits than the scheme would choose, so that these stay.
    pub fn stay(&self, id: ValueId, scheme: Scheme) -> bool {
        self.integers.get(id).is_some_and(|stored| match scheme {
            Scheme::Dynamic8Weight4 | Scheme::Int4Weights => stored.is_int4,
            Scheme::Stored | Scheme::DynamicInt8 | Scheme::Int8Weights => true,
            Scheme::Float | Scheme::Int8 | Scheme::Int8x4 => false,
            Scheme::W8A8 | Scheme::W8A16 | Scheme::W4A16 | Scheme::Int16x8 => false,
        })
    }

    /// The elements of a row that share a scale, of weights that the model stores as integers.
    pub fn group(&self, id: ValueId) -> Option<i64> {
        self.integers.get(id).map(|stored| stored.group)
    }

    /// Whether a value is rows of stored integers, of scales or of offsets.
    pub fn is_gathered(&self, id: ValueId) -> bool {
        self.gathered.get(id).is_some()
    }

    /// The constant behind a value: a constant itself, or the operand of a conversion.
    pub fn constant(&self, graph: &Graph, id: ValueId) -> Option<ValueId> {
        let id = self.halves.get(id).copied().unwrap_or(id);
        graph.constant(id).map(|_| id)
    }

    /// The stored elements behind a `float32` value, and the stored type.
    pub fn elements<'g>(&self, graph: &'g Graph, id: ValueId) -> Option<(&'g ConstantData, ScalarType)> {
        let constant = self.constant(graph, id)?;
        graph.constant(constant).map(|data| (data, graph.spec(constant).scalar_type))
    }

    /// Removes conversions without readers.
    pub fn drop_unread(&self, graph: &mut Graph) {
        let read: IdMap<()> =
            graph.nodes.iter().flat_map(Node::uses).chain(graph.results()).map(|id| (id, ())).collect();
        let is_unread = |id: &ValueId| self.halves.get(*id).is_some() && read.get(*id).is_none();
        graph.nodes.retain(|node| node.outputs.is_empty() || !node.outputs.iter().all(is_unread));
    }
}

/// A lookup in a table.
struct Lookup<'g> {
    rows: ValueId,
    indices: ValueId,
    /// The sizes of the table.
    sizes: &'g [i32],
}

impl<'g> Lookup<'g> {
    fn of(graph: &'g Graph, node: &Node) -> Option<Self> {
        let is_lookup = node.operator.as_str() == "aten.embedding.default";
        let [Argument::Value(table), Argument::Value(indices), ..] = node.arguments[..] else { return None };
        let rows = node.outputs.first().filter(|_| is_lookup)?;
        Some(Self { rows: *rows, indices, sizes: &graph.spec(table).sizes })
    }
}

/// The result of stored integers.
fn stored(graph: &Graph, node: &Node) -> Option<(ValueId, Stored)> {
    let DequantizeAffine { integers, block, scales, zero_points: None, least, most } = DequantizeAffine::of(node)?
    else {
        return None;
    };
    let [1, group] = *block else { return None };
    let is_matrix = graph.spec(integers).rank() == 2;
    let are_constant = graph.constant(integers).is_some() && graph.constant(scales).is_some();
    let stored = Stored { is_int4: most - least < 16, group };
    node.outputs.first().filter(|_| is_matrix && are_constant).map(|output| (*output, stored))
}

/// The result and the constant of a conversion from half precision.
fn conversion(graph: &Graph, node: &Node) -> Option<(ValueId, ValueId)> {
    let (Some(Argument::Value(from)), [to]) = (node.arguments.first(), &node.outputs[..]) else { return None };
    let (stored, wanted) = (graph.spec(*from), graph.spec(*to));
    let is_half = matches!(stored.scalar_type, ScalarType::Half | ScalarType::BFloat16);
    let keeps_order = stored.is_contiguous() && wanted.is_contiguous() && stored.sizes == wanted.sizes;
    let widens = is_half && wanted.scalar_type == ScalarType::Float && keeps_order;
    let known = CONVERSIONS.contains(&node.operator.as_str()) && graph.constant(*from).is_some();
    (widens && known).then_some((*to, *from))
}
