//! The work of a node, from the shapes: an estimate for shares, not for times.

use etbuild_ir::{Argument, Graph, Node, TensorSpec, ValueId};

/// The operands of a GEMM or a convolution that decide the multiply-adds of an output element.
struct Weighted {
    /// The operator's name without the overload.
    name: &'static str,
    /// The position of the operand whose dimensions behind the first are summed over, or whose last dimension is.
    operand: usize,
    /// The summed part of the operand.
    sum: Sum,
}

/// The part of an operand that an output element sums over.
enum Sum {
    /// All dimensions but the first: the weights `[out, in, kernel...]` of a convolution.
    BehindFirst,
    /// The last dimension.
    Last,
}

/// Operators that multiply and add, a row each.
const WEIGHTED: &[Weighted] = &[
    Weighted { name: "convolution", operand: 1, sum: Sum::BehindFirst },
    Weighted { name: "linear", operand: 0, sum: Sum::Last },
    Weighted { name: "mm", operand: 0, sum: Sum::Last },
    Weighted { name: "bmm", operand: 0, sum: Sum::Last },
    Weighted { name: "addmm", operand: 1, sum: Sum::Last },
];

/// Attention: scores and their product with the values.
const ATTENTION: &str = "scaled_dot_product_attention";

/// The multiply-adds of a node, or for other nodes the elements that the node reads or writes, whichever are more. Dynamic sizes
/// count with their maximum. Constants do not count as read.
pub fn work(graph: &Graph, node: &Node) -> u64 {
    let written: u64 = node.outputs.iter().map(|id| elements(graph, *id)).sum();
    if node.operator.name() == ATTENTION {
        let keys = operand(graph, node, 1).and_then(|keys| keys.sizes.iter().nth_back(1).copied());
        return written.saturating_mul(2 * size(keys.unwrap_or(1)));
    }
    if let Some(row) = WEIGHTED.iter().find(|row| row.name == node.operator.name())
        && let Some(spec) = operand(graph, node, row.operand)
    {
        let summed = match row.sum {
            Sum::BehindFirst => spec.sizes.iter().skip(1).map(|size| self::size(*size)).product(),
            Sum::Last => spec.sizes.last().map_or(1, |size| self::size(*size)),
        };
        return written.saturating_mul(summed);
    }
    let read: u64 = node.uses().filter(|id| graph.needs_memory(*id)).map(|id| elements(graph, id)).sum();
    written.max(read)
}

fn elements(graph: &Graph, id: ValueId) -> u64 {
    if graph.number(id).is_some() { 1 } else { graph.spec(id).numel() as u64 }
}

fn operand<'g>(graph: &'g Graph, node: &Node, position: usize) -> Option<&'g TensorSpec> {
    match node.arguments.get(position) {
        Some(Argument::Value(id)) => Some(graph.spec(*id)),
        _ => None,
    }
}

fn size(size: i32) -> u64 {
    u64::try_from(size).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use etbuild_ir::text;

    use super::*;

    fn works(body: &str) -> Vec<u64> {
        let program = text::parse(&format!("etbuild-ir 1 aten\nmethod forward\n{body}"), &mut |_| None).unwrap().1;
        let graph = &program.methods["forward"];
        graph.nodes.iter().map(|node| work(graph, node)).collect()
    }

    #[test]
    fn gemms_and_convolutions_count_their_multiply_adds() {
        let body = "  input %x: float32[1, 8, 10, 10]
  input %w: float32[16, 4, 3, 3]
  input %m: float32[5, 7]
  input %n: float32[7, 2]
  %c: float32[1, 16, 8, 8] = aten.convolution.default(%x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 2)
  %p: float32[5, 2] = aten.mm.default(%m, %n)
  return %c, %p
";
        assert_eq!(works(body), [16 * 64 * 36, 5 * 2 * 7]);
    }

    #[test]
    fn other_nodes_count_elements() {
        let body = "  input %x: float32[4, 6]
  %s: float32[4] = aten.sum.dim_IntList(%x, [1], false, none)
  %e: float32[4, 6] = aten.add.Tensor(%x, %x, 1)
  return %s, %e
";
        assert_eq!(works(body), [24, 48]);
    }
}
