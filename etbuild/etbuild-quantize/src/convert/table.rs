//! Quantized embedding tables: the operators that gather rows.

use et_core::ScalarType;
use etbuild_ir::{Argument, Node, OperatorName, TensorSpec, ValueId};

use super::builder::Builder;
use super::weights::{Groups, Weights};
use crate::Observer;
use crate::annotate::tensor;
use crate::options::{Embedding, Options, Scheme};
use crate::parameters::Bounds;
use crate::weight::Grid;

/// The node with a quantized table of its own; `None` where the table is not a float constant.
pub fn alone(
    builder: &mut Builder,
    weights: &Weights<'_>,
    node: &Node,
    (form, options): (Embedding, &Options),
) -> Option<Node> {
    let (table, indices) = (tensor(node, 0)?, tensor(node, 1)?);
    let [rows, length] = builder.graph.spec(table).sizes[..] else { return None };
    let (operator, bounds, group) = match form {
        Embedding::Weight8 => ("quantized_decomposed.embedding_byte.default", Bounds::ROW8, length),
        Embedding::Weight4 if length % 2 == 0 => {
            let group = i32::try_from(options.group_of(usize::try_from(length).ok()?)).ok()?;
            ("quantized_decomposed.embedding_4bit.default", Bounds::WEIGHT4, group)
        }
        Embedding::Weight4 => return None,
    };
    let row = usize::try_from(length / group).ok()?;
    let blocks = usize::try_from(rows).ok()? * row;
    let grid = Grid::of_groups((bounds, u8::MAX), Observer::MinMax, row);
    let work = weights.work(builder, table, [1, blocks, usize::try_from(group).ok()?], grid)?;
    let (work, integers) = match form {
        Embedding::Weight8 => (work, TensorSpec::contiguous(ScalarType::Char, [rows, length])),
        Embedding::Weight4 => (work.in_pairs(), TensorSpec::contiguous(ScalarType::Byte, [rows, length / 2])),
    };
    let scales = TensorSpec::contiguous(ScalarType::Float, [rows, length / group]);
    let [integers, scales] = weights.constants(builder, table, &work, [integers, scales])?;
    let arguments = arguments([integers, scales, indices], bounds);
    Some(Node { operator: OperatorName::parse(operator)?, arguments, outputs: node.outputs.clone() })
}

fn arguments([integers, scales, indices]: [ValueId; 3], bounds: Bounds) -> Vec<Argument> {
    let [integers, scales, indices] = [integers, scales, indices].map(Argument::Value);
    vec![integers, scales, Argument::None, Argument::Int(bounds.lowest), Argument::Int(bounds.highest), indices]
}

/// The node for a table that a GEMM of this scheme reads too. The node gathers rows of the shared integers and rows
/// of the shared scales, and dequantizes them; `None` as for [`alone`].
pub fn shared(builder: &mut Builder, weights: &mut Weights<'_>, node: &Node, scheme: Scheme) -> Option<Node> {
    let (table, output) = (tensor(node, 0)?, *node.outputs.first()?);
    let (groups, bounds) = weights.row_groups(builder, table, scheme)?;
    let count = *builder.graph.spec(groups.scales).sizes.last()?;
    let rows = builder.like(output, ScalarType::Char);
    let mut row_scales = builder.graph.spec(output).clone();
    row_scales.set_size(row_scales.rank().checked_sub(1)?, count)?;
    let rank = rows.rank();
    let mut choose = |table: ValueId, spec: TensorSpec| {
        let rest = node.arguments.iter().skip(1).cloned();
        let [chosen] = builder.call(
            "aten.embedding.default",
            std::iter::once(Argument::Value(table)).chain(rest).collect(),
            [spec],
        );
        chosen
    };
    let (integers, scales) = (choose(groups.integers, rows), choose(groups.scales, row_scales));
    let arguments = Groups { integers, scales, ..groups }.dequantizing(rank, bounds);
    let operator = OperatorName::parse("torchao.dequantize_affine.default")?;
    Some(Node { operator, arguments, outputs: node.outputs.clone() })
}
