//! Stored weights: constants, possibly in half precision with a conversion to `float32`.

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, Graph, IdMap, Node, ValueId};

/// The conversion operators before and after lowering.
const CONVERSIONS: [&str; 2] = ["aten._to_copy.default", "dim_order_ops._to_dim_order_copy.default"];

/// The half-precision constants, by the converted `float32` value.
#[derive(Debug, Default)]
pub struct Sources(IdMap<ValueId>);

impl Sources {
    /// The conversions of a graph.
    pub fn of(graph: &Graph) -> Self {
        Self(graph.nodes.iter().filter_map(|node| conversion(graph, node)).collect())
    }

    /// The constant behind a value: a constant itself, or the operand of a conversion.
    pub fn constant(&self, graph: &Graph, id: ValueId) -> Option<ValueId> {
        let id = self.0.get(id).copied().unwrap_or(id);
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
        let is_unread = |id: &ValueId| self.0.get(*id).is_some() && read.get(*id).is_none();
        graph.nodes.retain(|node| node.outputs.is_empty() || !node.outputs.iter().all(is_unread));
    }
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
