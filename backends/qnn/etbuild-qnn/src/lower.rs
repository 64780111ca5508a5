//! Lowering of a partition: operations of the NPU for each node, by one rule per operator.

mod attention;
mod convolution;
mod elementwise;
mod join;
mod norm;
mod pool;
mod quantized;
mod reduce;
mod resize;
mod stage;
mod tokens;
mod view;
mod weights;

use et_qnn::Role;
use etbuild_backend::{ArgumentError, Call, Refusal, RefusalKind};
use etbuild_ir::{Links, Node};

use crate::builder::Builder;
use crate::partition::Partition;
use crate::program::Program;

/// The result of a rule.
pub type Done = Result<(), Refusal>;

/// The lowering of an operator's nodes.
struct Rule {
    operator: &'static str,
    lower: fn(&mut Builder<'_>, Call<'_>) -> Done,
}

/// A rule: the operator, a function, and its further arguments.
macro_rules! rule {
    ($operator:literal, $module:ident::$function:ident $(, $argument:expr)*) => {
        Rule { operator: $operator, lower: |builder, call| $module::$function(builder, call $(, $argument)*) }
    };
}

/// Every rule, sorted by operator.
static RULES: &[Rule] = &[
    rule!("aten._softmax.default", norm::softmax),
    rule!("aten.abs.default", elementwise::unary, "ElementWiseAbs"),
    rule!("aten.add.Scalar", elementwise::scalar, "ElementWiseAdd"),
    rule!("aten.add.Tensor", elementwise::scaled, "ElementWiseAdd"),
    rule!("aten.alias_copy.default", view::identity),
    rule!("aten.amax.default", reduce::over, "ReduceMax"),
    rule!("aten.amin.default", reduce::over, "ReduceMin"),
    rule!("aten.avg_pool2d.default", pool::average),
    rule!("aten.bmm.default", attention::matmul),
    rule!("aten.cat.default", join::cat),
    rule!("aten.clamp.default", elementwise::clamp),
    rule!("aten.clone.default", view::identity),
    rule!("aten.constant_pad_nd.default", join::pad),
    rule!("aten.convolution.default", convolution::convolution),
    rule!("aten.div.Tensor", elementwise::binary, "ElementWiseDivide"),
    rule!("aten.elu.default", elementwise::elu),
    rule!("aten.exp.default", elementwise::unary, "ElementWiseExp"),
    rule!("aten.expand_copy.default", view::expand),
    rule!("aten.gelu.default", elementwise::gelu),
    rule!("aten.hardsigmoid.default", elementwise::hardsigmoid),
    rule!("aten.hardswish.default", elementwise::unary, "HardSwish"),
    rule!("aten.hardtanh.default", elementwise::clamp),
    rule!("aten.index_select.default", tokens::select_row),
    rule!("aten.layer_norm.default", norm::layer_norm),
    rule!("aten.linear.default", convolution::linear),
    rule!("aten.log.default", elementwise::unary, "ElementWiseLog"),
    rule!("aten.max_pool2d_with_indices.default", pool::max),
    rule!("aten.maximum.default", elementwise::binary, "ElementWiseMaximum"),
    rule!("aten.mean.dim", reduce::over, "ReduceMean"),
    rule!("aten.minimum.default", elementwise::binary, "ElementWiseMinimum"),
    rule!("aten.mul.Scalar", elementwise::scalar, "ElementWiseMultiply"),
    rule!("aten.mul.Tensor", elementwise::binary, "ElementWiseMultiply"),
    rule!("aten.neg.default", elementwise::unary, "ElementWiseNeg"),
    rule!("aten.permute_copy.default", view::permute),
    rule!("aten.relu.default", elementwise::clamp),
    rule!("aten.rms_norm.default", norm::rms_norm),
    rule!("aten.rsqrt.default", elementwise::unary, "ElementWiseRsqrt"),
    rule!("aten.scaled_dot_product_attention.default", attention::scaled_dot_product),
    rule!("aten.select_copy.int", join::select),
    rule!("aten.sigmoid.default", elementwise::sigmoid),
    rule!("aten.silu.default", elementwise::silu),
    rule!("aten.slice_copy.Tensor", join::slice),
    rule!("aten.split_copy.Tensor", join::split),
    rule!("aten.split_with_sizes_copy.default", join::split),
    rule!("aten.sqrt.default", elementwise::unary, "ElementWiseSquareRoot"),
    rule!("aten.squeeze_copy.dim", view::reshape),
    rule!("aten.squeeze_copy.dims", view::reshape),
    rule!("aten.sub.Tensor", elementwise::scaled, "ElementWiseSubtract"),
    rule!("aten.sum.dim_IntList", reduce::over, "ReduceSum"),
    rule!("aten.t_copy.default", view::transpose_matrix),
    rule!("aten.tanh.default", elementwise::unary, "Tanh"),
    rule!("aten.transpose_copy.int", view::transpose),
    rule!("aten.unsqueeze_copy.default", view::reshape),
    rule!("aten.upsample_bilinear2d.vec", resize::bilinear),
    rule!("aten.upsample_nearest2d.vec", resize::nearest),
    rule!("aten.view_copy.default", view::reshape),
    rule!("etbuild.attend_cache.default", tokens::attend),
    rule!("etbuild.rotate.default", tokens::rotate),
    rule!("etbuild.write_cache.default", tokens::write),
    rule!("quantized_decomposed.dequantize_per_channel.default", quantized::constant),
    rule!("quantized_decomposed.dequantize_per_tensor.default", quantized::dequantize),
    rule!("quantized_decomposed.quantize_per_tensor.default", quantized::quantize),
    rule!("torchao.dequantize_affine.default", quantized::constant),
];

/// The most dimensions of a tensor.
const MOST_DIMENSIONS: usize = 5;

fn rule(node: &Node) -> Option<&'static Rule> {
    let name = node.operator.as_str();
    RULES.binary_search_by(|rule| rule.operator.cmp(name)).ok().map(|position| &RULES[position])
}

/// A node without the arguments of its schema.
fn no_arguments() -> Refusal {
    ArgumentError.into()
}

/// The check of every node: static row-major tensors with elements.
fn check(call: &Call<'_>) -> Done {
    let values = || call.node.uses().chain(call.node.outputs.iter().copied());
    let specs = || values().map(|id| call.graph.spec(id));
    if specs().any(|spec| spec.is_dynamic()) {
        return Err(Refusal::new(RefusalKind::DynamicShape, "the NPU computes static sizes only"));
    }
    if specs().any(|spec| spec.numel() == 0 || spec.rank() > MOST_DIMENSIONS) {
        return Err(Refusal::new(RefusalKind::Shape, "a tensor has no elements, or more than five dimensions"));
    }
    if specs().any(|spec| !spec.is_contiguous()) {
        return Err(Refusal::new(RefusalKind::Layout, "a tensor is not row-major"));
    }
    Ok(())
}

/// Lowers a node.
fn lower_node(builder: &mut Builder<'_>, node: &Node) -> Done {
    let call = Call::new(builder.links, node);
    check(&call)?;
    let rule = rule(node)
        .ok_or_else(|| Refusal::new(RefusalKind::Operator, format!("there is no `{}` on the NPU", node.operator)))?;
    (rule.lower)(builder, call)
}

/// Why a node cannot be lowered by itself.
pub fn refusal(links: &Links<'_>, node: &Node) -> Option<Refusal> {
    lower_node(&mut Builder::for_node(links), node).err()
}

/// The context of a graph that reads KV caches as a whole.
pub const WHOLE: u32 = u32::MAX;

/// The graphs of a partition: one for each context length that is shorter than a KV cache, and the one that reads KV caches as a whole.
///
/// # Errors
/// A node or a border that the NPU lacks.
pub fn for_contexts(links: &Links<'_>, contexts: &[u32]) -> Result<Partition, Refusal> {
    let whole = lower(links, WHOLE)?;
    let caches = whole.inputs.iter().filter(|(_, binding)| binding.role == Role::Past);
    let longest = caches.map(|(_, binding)| binding.ring.slots).max().unwrap_or(0);
    let shorter = contexts.iter().filter(|context| **context < longest).map(|context| lower(links, *context));
    let graphs = shorter.chain([Ok(whole)]).collect::<Result<_, _>>()?;
    Ok(Partition::new(graphs))
}

/// The graph of a partition that reads the first `context` slots of KV caches.
///
/// # Errors
/// A node or a border that the NPU lacks.
pub fn lower(links: &Links<'_>, context: u32) -> Result<Program, Refusal> {
    let mut builder = Builder::new(links, context)?;
    for node in &links.graph.nodes {
        lower_node(&mut builder, node)?;
    }
    builder.finish()?;
    Ok(builder.program)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attention to a KV cache of eight slots.
    const CACHED: &str = "etbuild-ir 1 lowered
method forward
  input %q: float32[1, 1, 1, 4]
  input %k: float32[1, 1, 1, 4]
  input %start: int64[1]
  constant %last: int64[1] = \"last\" [0]
  constant %weight: float32[4, 4] = \"weight\" ramp(-1.0, 1.0)
  input %keys: float32[1, 8, 1, 4]
  %query: float32[1, 1, 1, 4] = aten.linear.default(%q, %weight, none)
  %written: float32[1, 8, 1, 4] = etbuild.write_cache.default(%keys, %k, %start, %last)
  %y: float32[1, 1, 1, 4] = etbuild.attend_cache.default(%query, %written, %written, %start, %last, 0.5, 0, 0.0, none, none, 0)
  update %keys %written
  return %y
";

    #[test]
    fn a_graph_per_shorter_context_has_the_constants_of_the_first() {
        let program = etbuild_golden::parse(CACHED).unwrap();
        let partition = for_contexts(&Links::of(&program.methods["forward"]), &[2, 4, 8, 16]).unwrap();
        let reads = |program: &Program| {
            let mut inputs = program.inputs.iter();
            inputs.find(|(_, binding)| binding.role == Role::Past).map(|(id, _)| program.get(*id).sizes[1])
        };
        let [two, four, eight] = partition.graphs() else { panic!("{} graphs", partition.graphs().len()) };
        assert_eq!([two, four, eight].map(reads), [Some(2), Some(4), Some(8)]);
        let weights = |program: &Program| program.tensors.iter().position(|tensor| tensor.name == "weight").unwrap();
        let stored = |program: &Program| program.tensors[weights(program)].data.len();
        assert_eq!([two, four, eight].map(stored), [32, 0, 0]);
        assert_eq!(partition.data(eight, crate::program::TensorId(weights(eight))).len(), 32);
    }

    #[test]
    fn rules_are_sorted() {
        assert!(RULES.is_sorted_by(|left, right| left.operator < right.operator));
    }
}
