//! Dynamic quantization: activation rows, or blocks of rows, quantized at run time for int8 GEMM.

use et_core::ScalarType;
use et_cpu::{QuantizeRows, RowScales, Write};
use etbuild_backend::{Call, RefusalKind, dequantizes_constants};
use etbuild_ir::{Argument, Graph, Node};

use crate::Problem;
use crate::builder::{Builder, place};
use crate::capability::{Checked, ensure};
use crate::lower::Lowered;
use crate::lower::table::{self, Table};
use crate::tensor::Tensor;

/// The bytes of a scale and a zero point.
const PARAMETERS: usize = 8;

/// Checks an operator that chooses qparams: supported for f32 to the full int8 range, per-tensor, per-row, or symmetric for blocks of
/// rows.
pub fn parameters_check(call: &Call<'_>) -> Checked {
    let is_float = call.value(0).is_ok_and(|id| call.graph.spec(id).scalar_type == ScalarType::Float);
    let holds = is_float && Scope::of(call.graph, call.node).is_some();
    ensure(
        holds,
        RefusalKind::Argument,
        "scales are found for all signed bytes, by rows, blocks of rows or for everything",
    )
}

/// Checks quantizing and dequantizing with dynamic qparams: the qparams must be chosen in the same partition.
pub fn check(call: &Call<'_>) -> Checked {
    let links = call.links;
    let is_found = call.node.uses().filter_map(|id| links.maker(id)).any(|node| Scope::of(links.graph, node).is_some());
    let is_table = Table::of(links, call.node).is_some();
    let holds = is_found || is_table || dequantizes_constants(links, call.node);
    ensure(holds, RefusalKind::Argument, "its scales are computed in another way")
}

/// The part of a tensor that shares qparams.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    /// A tensor.
    Tensor,
    /// A row.
    Row,
    /// Each of as many blocks of a row, with a zero point of 0.
    Block(usize),
}

impl Scope {
    /// The scope of a node that chooses int8 qparams: `choose_qparams(input, least, most, smallest, type)`, or
    /// `choose_qparams_affine(input, mapping, block, type, least, most, ...)` with blocks that are rows, or parts of rows and symmetric.
    fn of(graph: &Graph, node: &Node) -> Option<Self> {
        const SIGNED: [Argument; 2] = [Argument::Int(-128), Argument::Int(127)];
        const SYMMETRIC: [Argument; 2] = [Argument::Int(-127), Argument::Int(127)];
        match (node.operator.as_str(), &node.arguments[..]) {
            ("quantized_decomposed.choose_qparams.tensor", [_, ends @ .., _, Argument::Type(ScalarType::Char)]) => {
                (ends == SIGNED).then_some(Self::Tensor)
            }
            (
                "torchao.choose_qparams_affine.default",
                [Argument::Value(input), Argument::Text(mapping), Argument::Ints(block), _, least, most, ..],
            ) => {
                let row = graph.spec(*input).sizes.last().map(|size| i64::from(*size))?;
                let (last, others) = block.split_last()?;
                let ends = [least, most];
                match mapping.as_str() {
                    _ if others.iter().any(|size| *size != 1) => None,
                    "ASYMMETRIC" if *last == row && ends == [&SIGNED[0], &SIGNED[1]] => Some(Self::Row),
                    "SYMMETRIC" if *last > 0 && row % last == 0 && ends == [&SYMMETRIC[0], &SYMMETRIC[1]] => {
                        Some(Self::Block((row / last) as usize))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Dynamic quantization: `(input, scale, zero_point, ...)` per-tensor, `(input, block, scale, ...)` by blocks.
pub fn quantize(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let input = builder.dense(call.value(0)?)?;
    let scope = call.node.uses().filter_map(|id| builder.links.maker(id)).find_map(|node| Scope::of(call.graph, node));
    let scope = scope.ok_or(Problem::Arguments)?;
    let blocks = if let Scope::Block(blocks) = scope { blocks } else { 1 };
    let [rows, columns] = input.rows_and_columns();
    let [rows, columns] = [rows * blocks, columns / blocks];
    let output = builder.row_major(ScalarType::Char, &input.sizes);
    let row_scales = place(&builder.row_major(ScalarType::Byte, &[rows * PARAMETERS]));
    builder.emit(QuantizeRows {
        input: place(&input),
        output: Write(place(&output)),
        row_scales: Write(row_scales),
        rows: rows as u32,
        columns: columns as u32,
        together: scope == Scope::Tensor,
        is_symmetric: matches!(scope, Scope::Block(_)),
    });
    Ok(Some(Tensor { row_scales: Some(RowScales { place: row_scales, blocks: blocks as u32 }), ..output }))
}

/// Dequantization: int8 GEMM reads the int8 tensor, other operators read the f32 tensor. Constants are dequantized by consumers.
pub fn dequantize(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    if dequantizes_constants(builder.links, call.node) {
        return Ok(None);
    }
    if let Some(table) = Table::of(builder.links, call.node) {
        return table::gather(builder, &call, &table);
    }
    let rows = builder.quantized(call.value(0)?).filter(|tensor| tensor.row_scales.is_some());
    let rows = rows.cloned().ok_or(Problem::Order)?;
    Ok(Some(rows))
}
