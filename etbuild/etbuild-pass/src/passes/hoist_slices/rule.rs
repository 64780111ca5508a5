//! The slices of the operands that a call reads to compute a slice of the result.

use etbuild_ir::{Argument, Graph, Node, ValueId};

use crate::edit::normal_dim;

/// An operand that is read in part, and the sliced dimension of the operand.
pub type PartOf = (Operand, usize);

/// An operand of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The position of the argument.
    pub argument: usize,
    /// The value.
    pub id: ValueId,
}

/// The rule of an operator.
pub struct Rule {
    /// The operator.
    operator: &'static str,
    /// Whether the operator moves elements without arithmetic, so that a slice saves nothing.
    pub is_view: bool,
    /// The operands that are read in part for a slice along a dimension of the result; `None` if the operator needs
    /// whole operands.
    pub operands: fn(&Graph, &Node, usize) -> Option<Vec<PartOf>>,
}

impl Rule {
    const fn new(operator: &'static str, operands: fn(&Graph, &Node, usize) -> Option<Vec<PartOf>>) -> Self {
        Self { operator, is_view: false, operands }
    }

    const fn view(operator: &'static str, operands: fn(&Graph, &Node, usize) -> Option<Vec<PartOf>>) -> Self {
        Self { operator, is_view: true, operands }
    }
}

/// Every operator, in the order of names.
static RULES: &[Rule] = &[
    Rule::new("aten._softmax.default", softmax),
    Rule::new("aten.abs.default", elements),
    Rule::new("aten.add.Scalar", elements),
    Rule::new("aten.add.Tensor", elements),
    Rule::new("aten.addmm.default", bias_matmul),
    Rule::new("aten.bmm.default", batch_matmul),
    Rule::new("aten.clamp.default", elements),
    Rule::new("aten.div.Scalar", elements),
    Rule::new("aten.div.Tensor", elements),
    Rule::new("aten.elu.default", elements),
    Rule::new("aten.erf.default", elements),
    Rule::new("aten.exp.default", elements),
    Rule::new("aten.gelu.default", elements),
    Rule::new("aten.hardsigmoid.default", elements),
    Rule::new("aten.hardswish.default", elements),
    Rule::new("aten.hardtanh.default", elements),
    Rule::new("aten.layer_norm.default", normalized),
    Rule::new("aten.leaky_relu.default", elements),
    Rule::new("aten.linear.default", linear),
    Rule::new("aten.maximum.default", elements),
    Rule::new("aten.minimum.default", elements),
    Rule::new("aten.mish.default", elements),
    Rule::new("aten.mm.default", matmul),
    Rule::new("aten.mul.Scalar", elements),
    Rule::new("aten.mul.Tensor", elements),
    Rule::new("aten.neg.default", elements),
    Rule::view("aten.permute.default", permute),
    Rule::new("aten.pow.Tensor_Scalar", elements),
    Rule::new("aten.reciprocal.default", elements),
    Rule::new("aten.relu.default", elements),
    Rule::new("aten.rms_norm.default", normalized),
    Rule::new("aten.rsqrt.default", elements),
    Rule::new("aten.scaled_dot_product_attention.default", attention),
    Rule::new("aten.sigmoid.default", elements),
    Rule::new("aten.silu.default", elements),
    Rule::new("aten.sqrt.default", elements),
    Rule::new("aten.sub.Scalar", elements),
    Rule::new("aten.sub.Tensor", elements),
    Rule::new("aten.tanh.default", elements),
    Rule::view("aten.view.default", view),
    Rule::new("aten.where.self", elements),
];

/// The rule for a call.
pub fn rule(node: &Node) -> Option<&'static Rule> {
    let index = RULES.binary_search_by(|rule| rule.operator.cmp(node.operator.as_str())).ok()?;
    RULES.get(index)
}

/// The operand at a position of the arguments.
fn operand(node: &Node, argument: usize) -> Option<Operand> {
    match node.arguments.get(argument)? {
        Argument::Value(id) => Some(Operand { argument, id: *id }),
        _ => None,
    }
}

/// The sizes of the result of a call.
fn result<'g>(graph: &'g Graph, node: &Node) -> Option<&'g [i32]> {
    node.outputs.first().map(|id| &graph.spec(*id).sizes[..])
}

/// Elementwise operators: operands are aligned at the last dimension.
fn elements(graph: &Graph, node: &Node, along: usize) -> Option<Vec<PartOf>> {
    let sizes = result(graph, node)?;
    let from_last = sizes.len().checked_sub(along)?;
    let operands = (0..node.arguments.len()).filter_map(|argument| operand(node, argument));
    let part = |operand: Operand| {
        let own = &graph.spec(operand.id).sizes;
        let dim = own.len().checked_sub(from_last)?;
        (own.get(dim) == sizes.get(along)).then_some((operand, dim))
    };
    Some(operands.filter_map(part).collect())
}

/// `permute(x, dims)`.
fn permute(_: &Graph, node: &Node, dim: usize) -> Option<Vec<PartOf>> {
    let Argument::Ints(dims) = node.arguments.get(1)? else { return None };
    Some(vec![(operand(node, 0)?, normal_dim(*dims.get(dim)?, dims.len()).ok()?)])
}

/// `view(x, sizes)`: needs a dimension of the operand with the same size and the same number of elements behind each
/// position.
fn view(graph: &Graph, node: &Node, dim: usize) -> Option<Vec<PartOf>> {
    let of = operand(node, 0)?;
    let wanted = extent(result(graph, node)?, dim)?;
    let own = &graph.spec(of.id).sizes;
    let same = (0..own.len()).find(|dim| extent(own, *dim) == Some(wanted))?;
    Some(vec![(of, same)])
}

/// The size of a dimension, and the number of elements behind each position.
fn extent(sizes: &[i32], dim: usize) -> Option<(i32, i64)> {
    let behind = sizes.get(dim + 1..)?.iter().try_fold(1_i64, |product, size| product.checked_mul(i64::from(*size)));
    Some((*sizes.get(dim)?, behind?))
}

/// `linear(x, weight, bias)`: rows are independent.
fn linear(graph: &Graph, node: &Node, dim: usize) -> Option<Vec<PartOf>> {
    let is_row = dim + 1 < result(graph, node)?.len();
    Some(vec![(operand(node, 0).filter(|_| is_row)?, dim)])
}

/// `addmm(bias, left, right)` with a bias per column.
fn bias_matmul(graph: &Graph, node: &Node, dim: usize) -> Option<Vec<PartOf>> {
    let of_columns = graph.spec(operand(node, 0)?.id).rank() == 1;
    Some(vec![(operand(node, 1).filter(|_| of_columns && dim == 0)?, 0)])
}

/// `mm(left, right)`.
fn matmul(_: &Graph, node: &Node, dim: usize) -> Option<Vec<PartOf>> {
    Some(vec![(operand(node, dim)?, dim)])
}

/// `bmm(left, right)`, `[batches, rows, depth]` times `[batches, depth, columns]`.
fn batch_matmul(_: &Graph, node: &Node, dim: usize) -> Option<Vec<PartOf>> {
    let (left, right) = (operand(node, 0)?, operand(node, 1)?);
    match dim {
        0 => Some(vec![(left, 0), (right, 0)]),
        1 => Some(vec![(left, 1)]),
        _ => Some(vec![(right, 2)]),
    }
}

/// `layer_norm(x, sizes, ...)` and `rms_norm(x, sizes, ...)`: the last dimensions are normalized together.
fn normalized(graph: &Graph, node: &Node, dim: usize) -> Option<Vec<PartOf>> {
    let Argument::Ints(sizes) = node.arguments.get(1)? else { return None };
    let is_before = dim + sizes.len() < result(graph, node)?.len();
    Some(vec![(operand(node, 0).filter(|_| is_before)?, dim)])
}

/// `_softmax(x, dim, half_to_float)`.
fn softmax(graph: &Graph, node: &Node, dim: usize) -> Option<Vec<PartOf>> {
    let Argument::Int(along) = node.arguments.get(1)? else { return None };
    let along = normal_dim(*along, result(graph, node)?.len()).ok()?;
    Some(vec![(operand(node, 0).filter(|_| along != dim)?, dim)])
}

/// `scaled_dot_product_attention(query, key, value, mask, dropout, causal, ...)`: queries are independent. A causal
/// mask depends on the position of the query.
fn attention(graph: &Graph, node: &Node, dim: usize) -> Option<Vec<PartOf>> {
    let of_queries = dim + 2 == result(graph, node)?.len();
    let plain = matches!(node.arguments.get(3..6)?, [Argument::None, _, Argument::Bool(false)]);
    Some(vec![(operand(node, 0).filter(|_| of_queries && plain)?, dim)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(RULES.is_sorted_by(|left, right| left.operator < right.operator));
    }

    #[test]
    fn a_dimension_of_a_view_has_the_same_number_of_elements_behind() {
        let sizes = [197, 1, 768];
        assert_eq!(extent(&sizes, 0), Some((197, 768)));
        assert_eq!(extent(&[197, 768], 0), extent(&sizes, 0));
        assert_ne!(extent(&[768, 197], 1), extent(&sizes, 0));
    }
}
