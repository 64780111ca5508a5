//! Dynamic quantization: activation rows quantized at run time for int8 GEMM.

use et_core::ScalarType;
use et_cpu::{Activation, DequantizeRows, GroupedProduct, Groups, Numbers, Place, QuantizeRows, Rows};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Argument, Graph, Node};

use crate::Problem;
use crate::builder::{Builder, place};
use crate::call::Call;
use crate::constant::{self, ByteWeights, GroupedWeights};
use crate::lower::product::{floats, matrix_window, pixels};
use crate::lower::table::{self, Table};
use crate::lower::{Lowered, quantized};
use crate::pack::{Form, Packing};
use crate::tensor::Tensor;

/// The bytes of a scale and a zero point.
const PARAMETERS: usize = 8;

/// Dynamically quantized rows with per-row qparams.
#[derive(Clone, Debug)]
pub struct RoundedRows {
    /// The int8 tensor, row-major.
    pub bytes: Tensor,
    /// The address of the qparams, two words per row.
    pub parameters: Place,
    /// Number of rows.
    pub rows: usize,
}

impl RoundedRows {
    /// The dequantized f32 tensor.
    pub fn real(&self, builder: &mut Builder<'_>) -> Tensor {
        let output = builder.row_major(ScalarType::Float, &self.bytes.sizes);
        let columns = self.bytes.numel().checked_div(self.rows).unwrap_or(0);
        let back = DequantizeRows {
            input: place(&self.bytes),
            row_scales: self.parameters,
            output: place(&output),
            rows: self.rows as u32,
            columns: columns as u32,
        };
        builder.make(output.buffer, back);
        output
    }
}

/// Checks an operator that chooses qparams: supported for f32 to the full int8 range, per-tensor or
/// per-row.
pub fn parameters_check(call: &Call<'_>) -> Option<Refusal> {
    let is_float = call.value(0).is_ok_and(|id| call.graph.spec(id).scalar_type == ScalarType::Float);
    if is_float && finds_parameters(call.graph, call.node) {
        return None;
    }
    Some(Refusal::new(RefusalKind::Argument, "scales are found for all signed bytes, by rows or for everything"))
}

/// Checks quantizing and dequantizing with dynamic qparams: the qparams must be chosen in the same partition.
pub fn check(call: &Call<'_>) -> Option<Refusal> {
    let links = call.links;
    let is_found = call.node.uses().filter_map(|id| links.maker(id)).any(|node| finds_parameters(links.graph, node));
    let is_table = table::is_dequantizing(call.node) && Table::of(links, call.node).is_some();
    if is_found || is_table || constant::dequantizes_constants(links, call.node) {
        return None;
    }
    Some(Refusal::new(RefusalKind::Argument, "its scales are computed in another way"))
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

/// No instruction: the kernel that quantizes rows chooses the qparams.
pub fn choose_parameters(_: &mut Builder<'_>, _: Call<'_>) -> Lowered {
    Ok(())
}

/// Dynamic quantization: `(input, scale, zero_point, ...)` per-tensor, `(input, block, ...)` per-row.
pub fn quantize(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let input = builder.tensor(call.value(0)?)?;
    let input = builder.in_row_major(input);
    let columns = input.sizes.last().copied().unwrap_or(1);
    let rows = input.numel().checked_div(columns).ok_or(Problem::Arguments)?;
    let together = !matches!(call.node.arguments.get(1), Some(Argument::Ints(_)));
    let bytes = builder.row_major(ScalarType::Char, &input.sizes);
    let parameters = builder.row_major(ScalarType::Byte, &[rows * PARAMETERS]);
    let quantization = QuantizeRows {
        input: place(&input),
        output: place(&bytes),
        row_scales: place(&parameters),
        rows: rows as u32,
        columns: columns as u32,
        together: u32::from(together),
    };
    builder.push(quantization);
    builder.set(call.output()?, bytes.clone());
    builder.set_rounded(call.output()?, RoundedRows { bytes, parameters: place(&parameters), rows });
    Ok(())
}

/// Dequantization: int8 GEMM reads the int8 tensor, other operators read the f32 tensor. Constants are dequantized by consumers.
pub fn dequantize(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    if constant::dequantizes_constants(builder.links, call.node) {
        return quantized::dequantize_constant(builder, call);
    }
    if let Some(table) = Table::of(builder.links, call.node) {
        return table::gather(builder, &call, table);
    }
    let rounded = builder.rounded(call.value(0)?).cloned().ok_or(Problem::Order)?;
    builder.set_rounded(call.output()?, rounded);
    Ok(())
}

/// A linear layer with dynamically quantized rows and quantized weights; false for other linear layers.
pub fn linear(builder: &mut Builder<'_>, call: &Call<'_>) -> Result<bool, Problem> {
    let Some(rounded) = builder.rounded(call.value(0)?).cloned() else { return Ok(false) };
    let weights = call.value(1)?;
    let bias = call.optional_value(2)?.map_or(Ok(Vec::new()), |id| floats(builder, id))?;
    if let Some(weights) = constant::byte_weights(builder.links, weights) {
        bytes(builder, call, &rounded, weights, bias)?;
    } else if let Some(weights) = constant::grouped_weights(builder.links, weights) {
        groups(builder, call, &rounded, weights, bias)?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn bytes(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    rounded: &RoundedRows,
    weights: ByteWeights,
    bias: Vec<f32>,
) -> Lowered {
    let (output, [inner, columns]) = result(builder, call, rounded)?;
    let window = matrix_window(rounded.rows, inner, columns);
    let form = Form::BytesForRows(weights.scales, bias);
    let weights = builder.packed(Packing { window, weights: weights.bytes, form, adapter: None })?;
    let input = Rows { place: place(&rounded.bytes), stride: inner as u32 };
    let product = quantized::instruction(input, Numbers::REAL, pixels(&output, columns as u32), weights, window);
    builder.make(output.buffer, et_cpu::QuantizedProduct { row_scales: rounded.parameters, ..product });
    builder.set(call.output()?, output);
    Ok(())
}

fn groups(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    rounded: &RoundedRows,
    weights: GroupedWeights,
    bias: Vec<f32>,
) -> Lowered {
    let (output, [inner, columns]) = result(builder, call, rounded)?;
    let window = matrix_window(rounded.rows, inner, columns);
    let packed = weights.form(!bias.is_empty());
    let form = Form::Groups(packed, weights.scales, bias);
    let weights = builder.packed(Packing { window, weights: weights.bytes, form, adapter: None })?;
    let product = GroupedProduct {
        input: place(&rounded.bytes),
        row_scales: rounded.parameters,
        output: pixels(&output, columns as u32),
        weights,
        sizes: [rounded.rows, inner, columns].map(|size| size as u32),
        groups: Groups::of(packed),
        activation: Activation::clamp(f32::NEG_INFINITY, f32::INFINITY),
    };
    builder.make(output.buffer, product);
    builder.set(call.output()?, output);
    Ok(())
}

/// The output tensor of a linear layer, with K and N of the GEMM.
fn result(builder: &mut Builder<'_>, call: &Call<'_>, rounded: &RoundedRows) -> Result<(Tensor, [usize; 2]), Problem> {
    let output = builder.row_major(ScalarType::Float, &call.output_sizes()?);
    let last = |sizes: &[usize]| sizes.last().copied().ok_or(Problem::Arguments);
    let sizes = [last(&rounded.bytes.sizes)?, last(&output.sizes)?];
    Ok((output, sizes))
}
