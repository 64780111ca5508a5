//! Lowering of a partition: an instruction for each node by one rule per operator, then fusion.

mod attention;
mod axes;
mod conv2d;
mod convolution;
mod dynamic;
mod elementwise;
mod embedding_bag;
mod experts;
mod find_attention;
mod find_offsets;
mod find_tables;
mod pattern;
mod pool;
mod quantized;
mod recurrence;
mod recurrent;
mod rowwise;
mod table;
mod text;
mod transposed;
mod view;
mod volume;

use std::collections::BTreeMap;

use et_cpu::Window;
use et_kernels::elementwise::Operation;
use etbuild_backend::{Call, Geometry, Refusal, RefusalKind};
use etbuild_ir::{Links, Node};

use crate::builder::Builder;
use crate::capability::{self, Check};
use crate::fuse::{Fusions, fuse};
use crate::program::Program;
use crate::tensor::Tensor;
use crate::{Architecture, Problem};
use find_attention::find_attention;
use find_offsets::find_offsets;
use find_tables::find_tables;

/// The fused program of a partition.
pub fn compile<'g>(links: &'g Links<'g>, architecture: Architecture, fusions: Fusions) -> Result<Program<'g>, Problem> {
    let graph = links.graph;
    let mut builder = Builder::new(links, architecture);
    let (matches, mut replaced) = find_attention(graph);
    let matches: BTreeMap<usize, _> = matches.iter().map(|found| (found.position, found)).collect();
    let with_offsets = find_offsets(links);
    replaced.extend(with_offsets.values().flat_map(|found| found.replaced));
    let tables = find_tables(links);
    replaced.extend(tables.values().flat_map(|found| found.replaced));
    for (position, node) in graph.nodes.iter().enumerate() {
        builder.node = position;
        if let Some(found) = matches.get(&position) {
            let output = attention::found(&mut builder, found)?;
            builder.set(found.output, output);
        } else if let Some(found) = with_offsets.get(&position) {
            let call = Call::new(links, found.linear);
            let output = conv2d::linear_with(&mut builder, call, Some(found.offsets.clone()))?;
            builder.set(found.output, output.ok_or(Problem::Order)?);
        } else if let Some(found) = tables.get(&position) {
            let call = Call::new(links, found.sum);
            let output = table::gather(&mut builder, &call, &found.table)?;
            builder.set(call.output()?, output.ok_or(Problem::Order)?);
        } else if !replaced.contains(&position) {
            let rule = rule(node).ok_or(Problem::Operator)?;
            let call = Call::new(links, node);
            if let Some(output) = (rule.lower)(&mut builder, call)? {
                builder.set(call.output()?, output);
            }
        }
    }
    results(&mut builder)?;
    let mut program = builder.program;
    fuse(&mut program, fusions);
    Ok(program)
}

/// Assigns the output tensors of the partition: an instruction writes directly to the output where the layouts agree.
fn results(builder: &mut Builder<'_>) -> Result<(), Problem> {
    let graph = builder.links.graph;
    for (position, id) in (0..).zip(&graph.outputs) {
        let (tensor, spec) = (builder.tensor(*id)?, graph.spec(*id));
        builder.result(position, &tensor, spec);
    }
    Ok(())
}

/// The result of a rule: the tensor of the first output, or `None` where consumers of the output lower the node.
pub type Lowered = Result<Option<Tensor>, Problem>;

/// The lowering of an operator's nodes.
pub struct Rule {
    /// The operator.
    pub operator: &'static str,
    /// The check that refuses unsupported nodes.
    pub check: Check,
    /// Appends the instructions of a node.
    pub lower: fn(&mut Builder<'_>, Call<'_>) -> Lowered,
}

impl Rule {
    const fn view(operator: &'static str, lower: fn(&mut Builder<'_>, Call<'_>) -> Lowered) -> Self {
        Self { operator, check: capability::view, lower }
    }

    const fn new(operator: &'static str, check: Check, lower: fn(&mut Builder<'_>, Call<'_>) -> Lowered) -> Self {
        Self { operator, check, lower }
    }
}

/// A rule for an element-wise operator: the check, the lowering with the operation, and further arguments of the lowering.
macro_rules! elementwise {
    ($operator:literal, $check:ident, $lower:ident $operation:ident $(, $argument:expr)?) => {
        Rule::new($operator, capability::$check, |builder, call| {
            elementwise::$lower(builder, call, Operation::$operation $(, $argument)?)
        })
    };
}

/// Every rule, sorted by operator.
static RULES: &[Rule] = &[
    Rule::new("aten._embedding_bag.default", embedding_bag::check, embedding_bag::lower),
    Rule::new("aten._softmax.default", capability::softmax, rowwise::softmax),
    elementwise!("aten.abs.default", floats, unary Abs, &[]),
    elementwise!("aten.add.Scalar", operands, binary Add),
    elementwise!("aten.add.Tensor", operands, binary Add),
    Rule::view("aten.alias_copy.default", view::identity),
    Rule::new("aten.avg_pool2d.default", capability::avg_pool, pool::avg_pool),
    Rule::new("aten.avg_pool3d.default", capability::avg_pool, volume::avg_pool),
    elementwise!("aten.bitwise_and.Tensor", truth, logical Min, &[]),
    elementwise!("aten.bitwise_not.default", truth, logical Equal, &[0.0]),
    elementwise!("aten.bitwise_or.Tensor", truth, logical Max, &[]),
    Rule::new("aten.bmm.default", capability::floats, attention::batch_matmul),
    Rule::new("aten.cat.default", capability::concatenation, view::cat),
    Rule::new("aten.clamp.default", capability::clamp, clamp),
    Rule::view("aten.clone.default", view::identity),
    Rule::new("aten.constant_pad_nd.default", capability::padding, view::identity),
    Rule::new("aten.convolution.default", capability::convolution, convolution::convolution),
    elementwise!("aten.div.Scalar", operands, binary Div),
    elementwise!("aten.div.Tensor", operands, binary Div),
    Rule::new("aten.embedding.default", capability::embedding, view::embedding),
    elementwise!("aten.eq.Scalar", comparison, compare Equal, [0, 1]),
    elementwise!("aten.eq.Tensor", comparison, compare Equal, [0, 1]),
    elementwise!("aten.exp.default", floats, unary Exp, &[]),
    Rule::view("aten.expand_copy.default", view::expand),
    elementwise!("aten.ge.Scalar", comparison, compare LessEqual, [1, 0]),
    elementwise!("aten.ge.Tensor", comparison, compare LessEqual, [1, 0]),
    Rule::new("aten.gelu.default", capability::floats, gelu),
    Rule::new("aten.gru.input", recurrent::check, recurrent::gru),
    elementwise!("aten.gt.Scalar", comparison, compare Less, [1, 0]),
    elementwise!("aten.gt.Tensor", comparison, compare Less, [1, 0]),
    elementwise!("aten.hardsigmoid.default", floats, unary Hardsigmoid, &[]),
    elementwise!("aten.hardswish.default", floats, unary Hardswish, &[]),
    Rule::new("aten.hardtanh.default", capability::floats, clamp),
    Rule::new("aten.index_select.default", text::index_check, text::index_select),
    Rule::new("aten.layer_norm.default", capability::layer_norm, rowwise::layer_norm),
    elementwise!("aten.le.Scalar", comparison, compare LessEqual, [0, 1]),
    elementwise!("aten.le.Tensor", comparison, compare LessEqual, [0, 1]),
    Rule::new("aten.linear.default", capability::linear, conv2d::linear),
    elementwise!("aten.logical_and.default", truth, logical Min, &[]),
    elementwise!("aten.logical_not.default", truth, logical Equal, &[0.0]),
    elementwise!("aten.logical_or.default", truth, logical Max, &[]),
    Rule::new("aten.lstm.input", recurrent::check, recurrent::lstm),
    elementwise!("aten.lt.Scalar", comparison, compare Less, [0, 1]),
    elementwise!("aten.lt.Tensor", comparison, compare Less, [0, 1]),
    Rule::new("aten.max_pool2d_with_indices.default", capability::max_pool, pool::max_pool),
    Rule::new("aten.max_pool3d_with_indices.default", capability::max_pool, volume::max_pool),
    elementwise!("aten.maximum.default", operands, binary Max),
    Rule::new("aten.mean.dim", capability::mean, rowwise::mean),
    elementwise!("aten.minimum.default", operands, binary Min),
    elementwise!("aten.mul.Scalar", operands, binary Mul),
    elementwise!("aten.mul.Tensor", operands, binary Mul),
    elementwise!("aten.ne.Scalar", comparison, compare NotEqual, [0, 1]),
    elementwise!("aten.ne.Tensor", comparison, compare NotEqual, [0, 1]),
    elementwise!("aten.neg.default", floats, unary Neg, &[]),
    Rule::view("aten.permute_copy.default", view::permute),
    elementwise!("aten.reciprocal.default", floats, unary Reciprocal, &[]),
    elementwise!("aten.relu.default", floats, unary Relu, &[]),
    Rule::new("aten.rms_norm.default", capability::rms_norm, rowwise::rms_norm),
    Rule::new("aten.rnn_relu.input", recurrent::check, recurrent::rnn_relu),
    Rule::new("aten.rnn_tanh.input", recurrent::check, recurrent::rnn_tanh),
    Rule::new("aten.roll.default", capability::roll, view::roll),
    elementwise!("aten.rsqrt.default", floats, unary Rsqrt, &[]),
    Rule::new("aten.scaled_dot_product_attention.default", capability::attention, attention::attention),
    Rule::view("aten.select_copy.int", view::select),
    elementwise!("aten.sigmoid.default", floats, unary Sigmoid, &[]),
    elementwise!("aten.silu.default", floats, unary Silu, &[]),
    Rule::view("aten.slice_copy.Tensor", view::slice),
    elementwise!("aten.sqrt.default", floats, unary Sqrt, &[]),
    Rule::view("aten.squeeze_copy.dims", view::view),
    elementwise!("aten.sub.Scalar", operands, binary Sub),
    elementwise!("aten.sub.Tensor", operands, binary Sub),
    Rule::new("aten.sum.dim_IntList", capability::mean, rowwise::sum),
    elementwise!("aten.tanh.default", floats, unary Tanh, &[]),
    Rule::new("aten.topk.default", capability::topk, rowwise::topk),
    Rule::view("aten.unsqueeze_copy.default", view::view),
    Rule::view("aten.view_copy.default", view::view),
    Rule::new("aten.where.self", capability::choice, elementwise::choose),
    Rule::new("etbuild.attend_block.default", text::attend_block_check, text::attend_block),
    Rule::new("etbuild.attend_cache.default", text::attend_cache_check, text::attend_cache),
    Rule::new("etbuild.attend_segments.default", text::segments_check, text::attend_segments),
    Rule::new("etbuild.choose_experts.default", capability::floats, rowwise::choose_experts),
    Rule::new("etbuild.conv_cache.default", recurrence::conv_cache_check, recurrence::conv_cache),
    Rule::new("etbuild.expert_linear.default", experts::check, experts::lower),
    Rule::new("etbuild.gated_delta.default", recurrence::check, recurrence::gated_delta),
    Rule::new("etbuild.rotate.default", text::rotate_check, text::rotate),
    Rule::new("etbuild.selective_scan.default", recurrence::check, recurrence::selective_scan),
    Rule::new("quantized_decomposed.choose_qparams.tensor", dynamic::parameters_check, quantized::nothing),
    Rule::new("quantized_decomposed.dequantize_per_channel.default", capability::known, quantized::nothing),
    Rule::new("quantized_decomposed.dequantize_per_tensor.default", capability::bytes, quantized::dequantize),
    Rule::new("quantized_decomposed.dequantize_per_tensor.tensor", dynamic::check, dynamic::dequantize),
    Rule::new("quantized_decomposed.quantize_per_tensor.default", capability::bytes, quantized::quantize),
    Rule::new("quantized_decomposed.quantize_per_tensor.tensor", dynamic::check, dynamic::quantize),
    Rule::new("torchao.choose_qparams_affine.default", dynamic::parameters_check, quantized::nothing),
    Rule::new("torchao.dequantize_affine.default", dynamic::check, dynamic::dequantize),
    Rule::new("torchao.quantize_affine.default", dynamic::check, dynamic::quantize),
];

/// The refusal of a node; `None` for a supported node.
pub fn refusal(links: &Links<'_>, node: &Node) -> Option<Refusal> {
    let Some(rule) = rule(node) else {
        return Some(Refusal::new(RefusalKind::Operator, format!("there is no `{}`", node.operator)));
    };
    let call = Call::new(links, node);
    capability::general(&call).and_then(|()| (rule.check)(&call)).err()
}

/// The rule of a node.
fn rule(node: &Node) -> Option<&'static Rule> {
    let index = RULES.binary_search_by(|rule| rule.operator.cmp(node.operator.as_str())).ok()?;
    RULES.get(index)
}

/// The window between two images `[batch, channels, height, width]`.
fn window(input: &Tensor, output: &Tensor, geometry: Geometry, groups: u32) -> Window {
    let shape = |tensor: &Tensor| [tensor.sizes[2] as u32, tensor.sizes[3] as u32, tensor.sizes[1] as u32];
    let (batch, input, output, is_planar) = (input.sizes[0] as u32, shape(input), shape(output), false);
    let Geometry { kernel, stride, padding, dilation } = geometry;
    Window { batch, input, output, kernel, stride, padding, dilation, groups, is_planar }
}

/// Clamp; both limits are optional.
fn clamp(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let low = call.number(1)?.map_or(f32::NEG_INFINITY, |number| number as f32);
    let high = call.number(2)?.map_or(f32::INFINITY, |number| number as f32);
    elementwise::unary(builder, call, Operation::Clamp, &[low, high])
}

/// GELU, exact or by the tanh approximation.
fn gelu(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let operation = if call.text(1)? == "tanh" { Operation::GeluTanh } else { Operation::Gelu };
    elementwise::unary(builder, call, operation, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(RULES.is_sorted_by(|left, right| left.operator < right.operator));
    }
}
