//! Lowering of a partition: an instruction for each node by one rule per operator, then fusion.

pub mod attention;
mod choose;
pub mod conv2d;
mod dynamic;
mod elementwise;
mod find_attention;
mod pool;
pub mod quantized;
mod rowwise;
mod table;
mod text;
mod view;

use std::collections::BTreeMap;

use et_core::ScalarType;
use et_kernels::elementwise::Operation;
use etbuild_ir::{Links, Node};

use crate::builder::Builder;
use crate::call::Call;
use crate::capability::{self, Check};
use crate::fuse::fuse;
use crate::program::Program;
use crate::tensor::Tensor;
use crate::{Architecture, Problem};
use find_attention::find_attention;

/// The fused program of a partition.
pub fn compile<'g>(links: &'g Links<'g>, architecture: Architecture) -> Result<Program<'g>, Problem> {
    let graph = links.graph;
    let mut builder = Builder::new(links, architecture);
    let (matches, replaced) = find_attention(graph);
    let matches: BTreeMap<usize, _> = matches.iter().map(|found| (found.position, found)).collect();
    for (position, node) in graph.nodes.iter().enumerate() {
        builder.node = position;
        if let Some(found) = matches.get(&position) {
            let output = attention::found(&mut builder, found)?;
            builder.set(found.output, output);
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
    fuse(&mut program);
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

/// A rule for a unary element-wise operator.
macro_rules! unary {
    ($operator:literal, $operation:ident $(, $number:expr)*) => {
        Rule::new($operator, capability::floats, |builder, call| {
            elementwise::unary(builder, call, Operation::$operation, &[$($number),*])
        })
    };
}

/// A rule for a binary element-wise operator.
macro_rules! binary {
    ($operator:literal, $operation:ident) => {
        Rule::new($operator, capability::operands, |builder, call| {
            elementwise::binary(builder, call, Operation::$operation)
        })
    };
}

/// A rule for a comparison.
macro_rules! compare {
    ($operator:literal, $operation:ident) => {
        Rule::new($operator, capability::comparison, |builder, call| {
            choose::compare(builder, call, Operation::$operation)
        })
    };
}

/// A rule for a comparison with swapped operands.
macro_rules! reversed {
    ($operator:literal, $operation:ident) => {
        Rule::new($operator, capability::comparison, |builder, call| {
            choose::compare_reversed(builder, call, Operation::$operation)
        })
    };
}

/// A rule for an operator on booleans.
macro_rules! logical {
    ($operator:literal, $operation:ident $(, $number:expr)*) => {
        Rule::new($operator, capability::truth, |builder, call| {
            choose::logical(builder, call, Operation::$operation, &[$($number),*])
        })
    };
}

/// Every rule, sorted by operator.
static RULES: &[Rule] = &[
    Rule::new("aten._softmax.default", capability::softmax, rowwise::softmax),
    unary!("aten.abs.default", Abs),
    binary!("aten.add.Scalar", Add),
    binary!("aten.add.Tensor", Add),
    Rule::view("aten.alias_copy.default", view::identity),
    Rule::new("aten.avg_pool2d.default", capability::avg_pool, pool::avg_pool),
    logical!("aten.bitwise_and.Tensor", Min),
    logical!("aten.bitwise_not.default", Equal, 0.0),
    logical!("aten.bitwise_or.Tensor", Max),
    Rule::new("aten.bmm.default", capability::floats, attention::batch_matmul),
    Rule::new("aten.cat.default", capability::concatenation, view::cat),
    Rule::new("aten.clamp.default", capability::clamp, clamp),
    Rule::view("aten.clone.default", view::identity),
    Rule { check: capability::padding, ..Rule::view("aten.constant_pad_nd.default", view::identity) },
    Rule::new("aten.convolution.default", capability::convolution, conv2d::convolution),
    binary!("aten.div.Scalar", Div),
    binary!("aten.div.Tensor", Div),
    Rule::new("aten.embedding.default", capability::embedding, view::embedding),
    compare!("aten.eq.Scalar", Equal),
    compare!("aten.eq.Tensor", Equal),
    unary!("aten.exp.default", Exp),
    Rule::view("aten.expand_copy.default", view::expand),
    reversed!("aten.ge.Scalar", LessEqual),
    reversed!("aten.ge.Tensor", LessEqual),
    Rule::new("aten.gelu.default", capability::floats, gelu),
    reversed!("aten.gt.Scalar", Less),
    reversed!("aten.gt.Tensor", Less),
    unary!("aten.hardsigmoid.default", Hardsigmoid),
    unary!("aten.hardswish.default", Hardswish),
    Rule::new("aten.hardtanh.default", capability::floats, clamp),
    Rule::new("aten.index_select.default", text::index_check, text::index_select),
    Rule::new("aten.layer_norm.default", capability::layer_norm, rowwise::layer_norm),
    compare!("aten.le.Scalar", LessEqual),
    compare!("aten.le.Tensor", LessEqual),
    Rule::new("aten.linear.default", capability::linear, conv2d::linear),
    logical!("aten.logical_and.default", Min),
    logical!("aten.logical_not.default", Equal, 0.0),
    logical!("aten.logical_or.default", Max),
    compare!("aten.lt.Scalar", Less),
    compare!("aten.lt.Tensor", Less),
    Rule::new("aten.max_pool2d_with_indices.default", capability::max_pool, pool::max_pool),
    binary!("aten.maximum.default", Max),
    Rule::new("aten.mean.dim", capability::mean, rowwise::mean),
    binary!("aten.minimum.default", Min),
    binary!("aten.mul.Scalar", Mul),
    binary!("aten.mul.Tensor", Mul),
    compare!("aten.ne.Scalar", NotEqual),
    compare!("aten.ne.Tensor", NotEqual),
    unary!("aten.neg.default", Neg),
    Rule::view("aten.permute_copy.default", view::permute),
    unary!("aten.reciprocal.default", Reciprocal),
    unary!("aten.relu.default", Relu),
    Rule::new("aten.rms_norm.default", capability::rms_norm, rowwise::rms_norm),
    Rule::new("aten.roll.default", capability::roll, view::roll),
    unary!("aten.rsqrt.default", Rsqrt),
    Rule::new("aten.scaled_dot_product_attention.default", capability::attention, attention::attention),
    Rule::view("aten.select_copy.int", view::select),
    unary!("aten.sigmoid.default", Sigmoid),
    unary!("aten.silu.default", Silu),
    Rule::view("aten.slice_copy.Tensor", view::slice),
    unary!("aten.sqrt.default", Sqrt),
    Rule::view("aten.squeeze_copy.dims", view::view),
    binary!("aten.sub.Scalar", Sub),
    binary!("aten.sub.Tensor", Sub),
    unary!("aten.tanh.default", Tanh),
    Rule::view("aten.unsqueeze_copy.default", view::view),
    Rule::view("aten.view_copy.default", view::view),
    Rule::new("aten.where.self", capability::choice, choose::choose),
    Rule::new("etbuild.attend_cache.default", text::attend_check, text::attend_cache),
    Rule::new("etbuild.rotate.default", text::rotate_check, text::rotate),
    Rule::new("quantized_decomposed.choose_qparams.tensor", dynamic::parameters_check, dynamic::choose_parameters),
    Rule {
        check: capability::known,
        ..Rule::view("quantized_decomposed.dequantize_per_channel.default", quantized::dequantize_constant)
    },
    Rule {
        check: capability::bytes,
        ..Rule::view("quantized_decomposed.dequantize_per_tensor.default", quantized::dequantize)
    },
    Rule::new("quantized_decomposed.dequantize_per_tensor.tensor", dynamic::check, dynamic::dequantize),
    Rule::new("quantized_decomposed.quantize_per_tensor.default", capability::bytes, quantized::quantize),
    Rule::new("quantized_decomposed.quantize_per_tensor.tensor", dynamic::check, dynamic::quantize),
    Rule::new("torchao.choose_qparams_affine.default", dynamic::parameters_check, dynamic::choose_parameters),
    Rule::new("torchao.dequantize_affine.default", dynamic::check, dynamic::dequantize),
    Rule::new("torchao.quantize_affine.default", dynamic::check, dynamic::quantize),
];

/// The rule of a node.
pub fn rule(node: &Node) -> Option<&'static Rule> {
    let index = RULES.binary_search_by(|rule| rule.operator.cmp(node.operator.as_str())).ok()?;
    RULES.get(index)
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

/// The dtype of floating-point kernels.
pub const FLOAT: ScalarType = ScalarType::Float;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(RULES.is_sorted_by(|left, right| left.operator < right.operator));
    }
}
