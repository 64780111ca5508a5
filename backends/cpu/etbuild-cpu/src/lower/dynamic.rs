//! Dynamic quantization: activation rows quantized at run time for int8 GEMM.

use et_core::ScalarType;
use et_cpu::{QuantizeRows, Write};
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

/// Checks an operator that chooses qparams: supported for f32 to the full int8 range, per-tensor or
/// per-row.
pub fn parameters_check(call: &Call<'_>) -> Checked {
    let is_float = call.value(0).is_ok_and(|id| call.graph.spec(id).scalar_type == ScalarType::Float);
    let holds = is_float && finds_parameters(call.graph, call.node);
    ensure(holds, RefusalKind::Argument, "scales are found for all signed bytes, by rows or for everything")
}

/// Checks quantizing and dequantizing with dynamic qparams: the qparams must be chosen in the same partition.
pub fn check(call: &Call<'_>) -> Checked {
    let links = call.links;
    let is_found = call.node.uses().filter_map(|id| links.maker(id)).any(|node| finds_parameters(links.graph, node));
    let is_table = Table::of(links, call.node).is_some();
    let holds = is_found || is_table || dequantizes_constants(links, call.node);
    ensure(holds, RefusalKind::Argument, "its scales are computed in another way")
}

/// Whether a node chooses int8 qparams: `choose_qparams(input, least, most, smallest, type)`, or
/// `choose_qparams_affine(input, mapping, block, type, least, most, ...)` with blocks that are rows.
fn finds_parameters(graph: &Graph, node: &Node) -> bool {
    const SIGNED: [Argument; 2] = [Argument::Int(-128), Argument::Int(127)];
    match (node.operator.as_str(), &node.arguments[..]) {
        ("quantized_decomposed.choose_qparams.tensor", [_, ends @ .., _, Argument::Type(ScalarType::Char)]) => {
            ends == SIGNED
        }
        (
            "torchao.choose_qparams_affine.default",
            [Argument::Value(input), Argument::Text(mapping), Argument::Ints(block), _, least, most, ..],
        ) => {
            let row = graph.spec(*input).sizes.last().map(|size| i64::from(*size));
            let is_row = block
                .split_last()
                .is_some_and(|(last, others)| Some(*last) == row && others.iter().all(|size| *size == 1));
            mapping == "ASYMMETRIC" && is_row && [least, most] == [&SIGNED[0], &SIGNED[1]]
        }
        _ => false,
    }
}

/// Dynamic quantization: `(input, scale, zero_point, ...)` per-tensor, `(input, block, ...)` per-row.
pub fn quantize(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let input = builder.dense(call.value(0)?)?;
    let [rows, columns] = input.rows_and_columns();
    let is_per_tensor = !matches!(call.node.arguments.get(1), Some(Argument::Ints(_)));
    let output = builder.row_major(ScalarType::Char, &input.sizes);
    let row_scales = place(&builder.row_major(ScalarType::Byte, &[rows * PARAMETERS]));
    builder.emit(QuantizeRows {
        input: place(&input),
        output: Write(place(&output)),
        row_scales: Write(row_scales),
        rows: rows as u32,
        columns: columns as u32,
        together: is_per_tensor,
    });
    Ok(Some(Tensor { row_scales: Some(row_scales), ..output }))
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
