//! Lowering of a partition: the outputs of each node as expressions, by one rule per operator.

mod affine;
mod attention;
mod cache;
mod create;
mod elementwise;
mod index;
mod join;
mod norm;
mod pad;
mod pool;
mod product;
mod quantized;
mod recurrent;
mod reduce;
mod resize;
mod slices;
mod sort;
mod view;

use etbuild_backend::{ArgumentError, Call, Refusal, RefusalKind};
use etbuild_ir::{Links, Node, ValueId};

use crate::builder::Builder;
use crate::expr::Fold;
use crate::profile::Profile;

/// The result of a rule, which states the outputs of the node.
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
    rule!("aten._adaptive_avg_pool2d.default", pool::adaptive, 2, false),
    rule!("aten._adaptive_avg_pool3d.default", pool::adaptive, 3, false),
    rule!("aten._log_softmax.default", norm::softmax, "({0} - {1} - log_f32({2}))"),
    rule!("aten._native_batch_norm_legit_no_training.default", norm::batch_norm),
    rule!("aten._softmax.default", norm::softmax, "(exp_f32({0} - {1}) / {2})"),
    rule!("aten._to_copy.default", elementwise::cast),
    rule!("aten.abs.default", elementwise::number, &[0], ["abs({0})", "select({0}, -{0}, {0} < 0)"]),
    rule!("aten.acos.default", elementwise::float, &[0], "acos_f32({0})"),
    rule!("aten.acosh.default", elementwise::float, &[0], "acosh_f32({0})"),
    rule!("aten.adaptive_max_pool2d.default", pool::adaptive, 2, true),
    rule!("aten.adaptive_max_pool3d.default", pool::adaptive, 3, true),
    rule!("aten.add.Scalar", elementwise::scaled, "({0} + {1})"),
    rule!("aten.add.Tensor", elementwise::scaled, "({0} + {1})"),
    rule!("aten.addmm.default", product::addmm),
    rule!("aten.alias_copy.default", view::identity),
    rule!("aten.amax.default", reduce::reduce, Fold::Max, 1, Some(2)),
    rule!("aten.amin.default", reduce::reduce, Fold::Min, 1, Some(2)),
    rule!("aten.any.default", reduce::reduce, Fold::Any, 0, None),
    rule!("aten.any.dim", reduce::reduce, Fold::Any, 1, Some(2)),
    rule!("aten.any.dims", reduce::any_of),
    rule!("aten.arange.default", create::arange, false),
    rule!("aten.arange.start_step", create::arange, true),
    rule!("aten.argmax.default", reduce::position, Fold::ArgMax),
    rule!("aten.argmin.default", reduce::position, Fold::ArgMin),
    rule!("aten.as_strided_copy.default", view::as_strided),
    rule!("aten.asin.default", elementwise::float, &[0], "asin_f32({0})"),
    rule!("aten.asinh.default", elementwise::float, &[0], "asinh_f32({0})"),
    rule!("aten.atan.default", elementwise::float, &[0], "atan_f32({0})"),
    rule!("aten.atan2.default", elementwise::float, &[0, 1], "atan2_f32({0}, {1})"),
    rule!("aten.atanh.default", elementwise::float, &[0], "atanh_f32({0})"),
    rule!("aten.avg_pool2d.default", pool::average, 2),
    rule!("aten.avg_pool3d.default", pool::average, 3),
    rule!("aten.bitwise_and.Scalar", elementwise::bitwise, &[0, 1], ["({0} & {1})", "({0} && {1})"]),
    rule!("aten.bitwise_and.Tensor", elementwise::bitwise, &[0, 1], ["({0} & {1})", "({0} && {1})"]),
    rule!(
        "aten.bitwise_left_shift.Tensor",
        elementwise::shift,
        ["shift_left_i32({0}, {1})", "shift_left_i64({0}, {1})"]
    ),
    rule!(
        "aten.bitwise_left_shift.Tensor_Scalar",
        elementwise::shift,
        ["shift_left_i32({0}, {1})", "shift_left_i64({0}, {1})"]
    ),
    rule!("aten.bitwise_not.default", elementwise::bitwise, &[0], ["(~{0})", "(!{0})"]),
    rule!("aten.bitwise_or.Scalar", elementwise::bitwise, &[0, 1], ["({0} | {1})", "({0} || {1})"]),
    rule!("aten.bitwise_or.Tensor", elementwise::bitwise, &[0, 1], ["({0} | {1})", "({0} || {1})"]),
    rule!(
        "aten.bitwise_right_shift.Tensor",
        elementwise::shift,
        ["shift_right_i32({0}, {1})", "shift_right_i64({0}, {1})"]
    ),
    rule!(
        "aten.bitwise_right_shift.Tensor_Scalar",
        elementwise::shift,
        ["shift_right_i32({0}, {1})", "shift_right_i64({0}, {1})"]
    ),
    rule!("aten.bitwise_xor.Scalar", elementwise::bitwise, &[0, 1], ["({0} ^ {1})", "({0} != {1})"]),
    rule!("aten.bitwise_xor.Tensor", elementwise::bitwise, &[0, 1], ["({0} ^ {1})", "({0} != {1})"]),
    rule!("aten.bmm.default", product::matmul),
    rule!("aten.bucketize.Tensor", index::bucketize),
    rule!("aten.cat.default", join::cat),
    rule!("aten.ceil.default", elementwise::number, &[0], ["ceil({0})", "{0}"]),
    rule!("aten.clamp.Tensor", elementwise::clamp),
    rule!("aten.clamp.default", elementwise::clamp),
    rule!("aten.clone.default", view::identity),
    rule!("aten.constant_pad_nd.default", pad::pad),
    rule!("aten.convolution.default", product::convolution),
    rule!("aten.copy.default", join::copy),
    rule!("aten.cos.default", elementwise::float, &[0], "cos_f32({0})"),
    rule!("aten.cosh.default", elementwise::float, &[0], "cosh_f32({0})"),
    rule!("aten.cumsum.default", reduce::cumsum),
    rule!("aten.detach_copy.default", view::identity),
    rule!("aten.diagonal_copy.default", view::diagonal),
    rule!("aten.div.Scalar", elementwise::divide),
    rule!("aten.div.Scalar_mode", elementwise::divide_with_mode),
    rule!("aten.div.Tensor", elementwise::divide),
    rule!("aten.div.Tensor_mode", elementwise::divide_with_mode),
    rule!("aten.elu.default", elementwise::with_numbers, "elu_f32({0}, {1}, {2}, {3})", &[1.0, 1.0, 1.0]),
    rule!("aten.embedding.default", index::embedding),
    rule!("aten.eq.Scalar", elementwise::compare, "({0} == {1})"),
    rule!("aten.eq.Tensor", elementwise::compare, "({0} == {1})"),
    rule!("aten.erf.default", elementwise::float, &[0], "erf_f32({0})"),
    rule!("aten.exp.default", elementwise::float, &[0], "exp_f32({0})"),
    rule!("aten.expand_copy.default", view::expand),
    rule!("aten.expm1.default", elementwise::float, &[0], "expm1_f32({0})"),
    rule!("aten.fill.Scalar", create::fill, 1),
    rule!("aten.fill.Tensor", create::fill, 1),
    rule!("aten.flip.default", view::flip),
    rule!("aten.floor.default", elementwise::number, &[0], ["floor({0})", "{0}"]),
    rule!("aten.floor_divide.default", elementwise::floor_divide),
    rule!("aten.fmod.Scalar", elementwise::single, &[0, 1], ["fmod_f32({0}, {1})", "({0} % {1})"]),
    rule!("aten.fmod.Tensor", elementwise::single, &[0, 1], ["fmod_f32({0}, {1})", "({0} % {1})"]),
    rule!("aten.full.default", create::fill, 1),
    rule!("aten.full_like.default", create::fill, 1),
    rule!("aten.gather.default", index::gather, true),
    rule!("aten.ge.Scalar", elementwise::compare, "({0} >= {1})"),
    rule!("aten.ge.Tensor", elementwise::compare, "({0} >= {1})"),
    rule!("aten.gelu.default", elementwise::gelu),
    rule!("aten.glu.default", join::glu),
    rule!("aten.grid_sampler_2d.default", resize::grid_sample),
    rule!("aten.group_norm.default", norm::group_norm, 1, 2),
    rule!("aten.gt.Scalar", elementwise::compare, "({0} > {1})"),
    rule!("aten.gt.Tensor", elementwise::compare, "({0} > {1})"),
    rule!("aten.hardsigmoid.default", elementwise::float, &[0], "clamp_f32({0} * 0.16666667f + 0.5f, 0.0f, 1.0f)"),
    rule!(
        "aten.hardswish.default",
        elementwise::float,
        &[0],
        "({0} * clamp_f32({0} * 0.16666667f + 0.5f, 0.0f, 1.0f))"
    ),
    rule!("aten.hardtanh.default", elementwise::clamp),
    rule!("aten.index.Tensor", index::index),
    rule!("aten.index_put.default", index::index_put),
    rule!("aten.index_select.default", index::gather, false),
    rule!("aten.isinf.default", elementwise::test, "is_inf({0})"),
    rule!("aten.isnan.default", elementwise::test, "is_nan({0})"),
    rule!("aten.layer_norm.default", norm::layer_norm),
    rule!("aten.le.Scalar", elementwise::compare, "({0} <= {1})"),
    rule!("aten.le.Tensor", elementwise::compare, "({0} <= {1})"),
    rule!("aten.leaky_relu.default", elementwise::with_numbers, "select({0} * {1}, {0}, {0} > 0.0f)", &[0.01]),
    rule!("aten.lerp.Scalar", elementwise::float, &[0, 1, 2], "lerp_f32({0}, {1}, {2})"),
    rule!("aten.lerp.Tensor", elementwise::float, &[0, 1, 2], "lerp_f32({0}, {1}, {2})"),
    rule!("aten.lift_fresh_copy.default", view::identity),
    rule!("aten.linear.default", product::linear),
    rule!("aten.log.default", elementwise::float, &[0], "log_f32({0})"),
    rule!("aten.log10.default", elementwise::float, &[0], "(log_f32({0}) * 0.43429448f)"),
    rule!("aten.log1p.default", elementwise::float, &[0], "log1p_f32({0})"),
    rule!("aten.log2.default", elementwise::float, &[0], "(log_f32({0}) * 1.44269504f)"),
    rule!("aten.log_sigmoid.default", elementwise::float, &[0], "log_sigmoid_f32({0})"),
    rule!("aten.logical_and.default", elementwise::logical, "({0} && {1})"),
    rule!("aten.logical_not.default", elementwise::logical, "(!{0})"),
    rule!("aten.logical_or.default", elementwise::logical, "({0} || {1})"),
    rule!("aten.logical_xor.default", elementwise::logical, "({0} != {1})"),
    rule!("aten.logit.default", elementwise::logit),
    rule!("aten.lstm.input", recurrent::lstm),
    rule!("aten.lt.Scalar", elementwise::compare, "({0} < {1})"),
    rule!("aten.lt.Tensor", elementwise::compare, "({0} < {1})"),
    rule!("aten.masked_fill.Scalar", elementwise::masked_fill),
    rule!("aten.masked_fill.Tensor", elementwise::masked_fill),
    rule!("aten.max.default", reduce::reduce, Fold::Max, 0, None),
    rule!("aten.max.dim", reduce::extreme, [Fold::Max, Fold::ArgMax]),
    rule!("aten.max_pool2d_with_indices.default", pool::max_with_positions, 2),
    rule!("aten.max_pool3d_with_indices.default", pool::max_with_positions, 3),
    rule!("aten.maximum.default", elementwise::single, &[0, 1], ["max_f32({0}, {1})", "max({0}, {1})"]),
    rule!("aten.mean.default", reduce::mean, 0),
    rule!("aten.mean.dim", reduce::mean, 1),
    rule!("aten.median.default", sort::median_of_all),
    rule!("aten.median.dim", sort::median),
    rule!("aten.min.default", reduce::reduce, Fold::Min, 0, None),
    rule!("aten.min.dim", reduce::extreme, [Fold::Min, Fold::ArgMin]),
    rule!("aten.minimum.default", elementwise::single, &[0, 1], ["min_f32({0}, {1})", "min({0}, {1})"]),
    rule!("aten.mish.default", elementwise::float, &[0], "mish_f32({0})"),
    rule!("aten.mm.default", product::matmul),
    rule!("aten.mul.Scalar", elementwise::number, &[0, 1], ["({0} * {1})", "({0} * {1})"]),
    rule!("aten.mul.Tensor", elementwise::number, &[0, 1], ["({0} * {1})", "({0} * {1})"]),
    rule!("aten.narrow_copy.default", view::narrow),
    rule!("aten.native_group_norm.default", norm::group_norm, 6, 1),
    rule!("aten.native_layer_norm.default", norm::layer_norm),
    rule!("aten.ne.Scalar", elementwise::compare, "(!({0} == {1}))"),
    rule!("aten.ne.Tensor", elementwise::compare, "(!({0} == {1}))"),
    rule!("aten.neg.default", elementwise::number, &[0], ["(-{0})", "(-{0})"]),
    rule!("aten.ones.default", create::constant, 1.0),
    rule!("aten.permute_copy.default", view::permute),
    rule!("aten.pixel_shuffle.default", view::pixel_shuffle),
    rule!("aten.pixel_unshuffle.default", view::pixel_unshuffle),
    rule!("aten.pow.Scalar", elementwise::power),
    rule!("aten.pow.Tensor_Scalar", elementwise::power),
    rule!("aten.pow.Tensor_Tensor", elementwise::power),
    rule!("aten.prod.default", reduce::reduce, Fold::Product, 0, None),
    rule!("aten.prod.dim_int", reduce::reduce, Fold::Product, 1, Some(2)),
    rule!("aten.reciprocal.default", elementwise::float, &[0], "(1.0f / {0})"),
    rule!("aten.reflection_pad1d.default", pad::pad_by_border, MIRROR),
    rule!("aten.reflection_pad2d.default", pad::pad_by_border, MIRROR),
    rule!("aten.reflection_pad3d.default", pad::pad_by_border, MIRROR),
    rule!("aten.relu.default", elementwise::single, &[0], ["relu_f32({0})", "max({0}, {0} - {0})"]),
    rule!("aten.remainder.Scalar", elementwise::remainder),
    rule!("aten.remainder.Tensor", elementwise::remainder),
    rule!("aten.repeat.default", view::repeat),
    rule!("aten.replication_pad1d.default", pad::pad_by_border, BORDER),
    rule!("aten.replication_pad2d.default", pad::pad_by_border, BORDER),
    rule!("aten.replication_pad3d.default", pad::pad_by_border, BORDER),
    rule!("aten.rms_norm.default", norm::rms_norm),
    rule!("aten.roll.default", view::roll),
    rule!("aten.round.default", elementwise::single, &[0], ["round_f32({0})", "{0}"]),
    rule!("aten.rsqrt.default", elementwise::float, &[0], "(1.0f / sqrt({0}))"),
    rule!("aten.rsub.Scalar", elementwise::reversed_difference),
    rule!("aten.scalar_tensor.default", create::fill, 0),
    rule!("aten.scaled_dot_product_attention.default", attention::attention),
    rule!("aten.scatter.src", index::scatter, false),
    rule!("aten.scatter.value", index::scatter, false),
    rule!("aten.scatter_add.default", index::scatter, true),
    rule!("aten.select_copy.int", view::select),
    rule!("aten.select_scatter.default", join::select_scatter),
    rule!("aten.sigmoid.default", elementwise::float, &[0], "sigmoid_f32({0})"),
    rule!("aten.sign.default", elementwise::sign),
    rule!("aten.silu.default", elementwise::float, &[0], "({0} * sigmoid_f32({0}))"),
    rule!("aten.sin.default", elementwise::float, &[0], "sin_f32({0})"),
    rule!("aten.sinh.default", elementwise::float, &[0], "sinh_f32({0})"),
    rule!("aten.slice_copy.Tensor", view::slice),
    rule!("aten.slice_scatter.default", join::slice_scatter),
    rule!("aten.softplus.default", elementwise::with_numbers, "softplus_f32({0}, {1}, {2})", &[1.0, 20.0]),
    rule!("aten.sort.default", sort::sorted, 1, 2),
    rule!("aten.sort.stable", sort::sorted, 2, 3),
    rule!("aten.split_copy.Tensor", join::split),
    rule!("aten.split_with_sizes_copy.default", join::split),
    rule!("aten.sqrt.default", elementwise::float, &[0], "sqrt({0})"),
    rule!("aten.squeeze_copy.dim", view::reshape),
    rule!("aten.squeeze_copy.dims", view::reshape),
    rule!("aten.stack.default", join::stack),
    rule!("aten.sub.Scalar", elementwise::scaled, "({0} - {1})"),
    rule!("aten.sub.Tensor", elementwise::scaled, "({0} - {1})"),
    rule!("aten.sum.dim_IntList", reduce::reduce, Fold::Sum, 1, Some(2)),
    rule!("aten.t_copy.default", view::transpose_matrix),
    rule!("aten.tan.default", elementwise::float, &[0], "(sin_f32({0}) / cos_f32({0}))"),
    rule!("aten.tanh.default", elementwise::float, &[0], "tanh_f32({0})"),
    rule!("aten.topk.default", sort::topk),
    rule!("aten.transpose_copy.int", view::transpose),
    rule!("aten.tril.default", pad::triangle, "({1} <= {0} + {2})"),
    rule!("aten.triu.default", pad::triangle, "({1} >= {0} + {2})"),
    rule!("aten.trunc.default", elementwise::number, &[0], ["trunc({0})", "{0}"]),
    rule!("aten.unbind_copy.int", join::unbind),
    rule!("aten.unfold_copy.default", view::unfold),
    rule!("aten.unsqueeze_copy.default", view::reshape),
    rule!("aten.upsample_bilinear2d.vec", resize::linear, 2),
    rule!("aten.upsample_linear1d.default", resize::linear, 1),
    rule!("aten.upsample_nearest1d.default", resize::nearest, 1),
    rule!("aten.upsample_nearest2d.vec", resize::nearest, 2),
    rule!("aten.upsample_nearest3d.default", resize::nearest, 3),
    rule!("aten.upsample_trilinear3d.default", resize::linear, 3),
    rule!("aten.var.correction", norm::variance, false),
    rule!("aten.var.dim", norm::variance, true),
    rule!("aten.var_mean.correction", norm::variance, false),
    rule!("aten.view_copy.default", view::reshape),
    rule!("aten.where.self", elementwise::choose),
    rule!("aten.zeros.default", create::constant, 0.0),
    rule!("dim_order_ops._clone_dim_order.default", view::identity),
    rule!("dim_order_ops._to_dim_order_copy.default", elementwise::cast),
    rule!("etbuild.attend_cache.default", cache::attend),
    rule!("etbuild.rotate.default", cache::rotate),
    rule!("etbuild.write_cache.default", cache::write),
    rule!("quantized_decomposed.dequantize_per_channel.default", quantized::dequantize_per_channel),
    rule!("quantized_decomposed.dequantize_per_tensor.default", quantized::dequantize_per_tensor),
    rule!("quantized_decomposed.dequantize_per_tensor.tensor", quantized::dequantize_per_tensor),
    rule!("quantized_decomposed.quantize_per_channel.default", quantized::quantize_per_channel),
    rule!("quantized_decomposed.quantize_per_tensor.default", quantized::quantize_per_tensor),
    rule!("quantized_decomposed.quantize_per_tensor.tensor", quantized::quantize_per_tensor),
    rule!("torchao.choose_qparams_affine.default", affine::choose),
    rule!("torchao.dequantize_affine.default", affine::dequantize),
    rule!("torchao.quantize_affine.default", affine::quantize),
];

/// The coordinate in a tensor for one in the tensor that is padded by mirrored elements.
const MIRROR: &str = "({2} - abs({2} - abs({0} - {1})))";

/// The coordinate in a tensor for one in the tensor that is padded by elements of the border.
const BORDER: &str = "clamp({0} - {1}, 0i, {2})";

/// A node without the arguments of its schema.
fn no_arguments() -> Refusal {
    ArgumentError.into()
}

/// A dimension argument of a tensor of a rank, which a scalar does not have.
fn along(call: &Call<'_>, position: usize, rank: usize) -> Result<usize, Refusal> {
    if rank == 0 {
        return Err(Refusal::new(RefusalKind::Shape, "the tensor is a scalar"));
    }
    Ok(call.dim(position, rank)?)
}

fn rule(node: &Node) -> Option<&'static Rule> {
    let name = node.operator.as_str();
    RULES.binary_search_by(|rule| rule.operator.cmp(name)).ok().map(|position| &RULES[position])
}

/// The most dimensions of a tensor.
const MOST_DIMENSIONS: usize = 8;

/// The check of every node: static tensors with elements.
fn check(call: &Call<'_>) -> Done {
    let values = || call.node.uses().chain(call.node.outputs.iter().copied());
    let specs = || values().map(|id| call.graph.spec(id));
    if specs().any(|spec| spec.is_dynamic()) {
        return Err(Refusal::new(RefusalKind::DynamicShape, "a size is known at run time only"));
    }
    if specs().any(|spec| spec.numel() == 0 || spec.rank() > MOST_DIMENSIONS) {
        return Err(Refusal::new(RefusalKind::Shape, "a tensor has no elements, or more than eight dimensions"));
    }
    if specs().any(|spec| spec.numel() > i32::MAX as usize) {
        return Err(Refusal::new(RefusalKind::Shape, "a tensor has more than 2^31 elements"));
    }
    Ok(())
}

/// Lowers a node.
pub fn lower_node(builder: &mut Builder<'_>, node: &Node) -> Done {
    let call = Call::new(builder.links, node);
    check(&call)?;
    let rule = rule(node)
        .ok_or_else(|| Refusal::new(RefusalKind::Operator, format!("there is no `{}` on the GPU", node.operator)))?;
    builder.current = node.outputs.first().copied();
    (rule.lower)(builder, call)
}

/// Why a node cannot be lowered by itself.
pub fn refusal(links: &Links<'_>, node: &Node, profile: Profile) -> Option<Refusal> {
    let mut builder = Builder::for_node(links, profile);
    lower_node(&mut builder, node).err()
}

/// The kernels of a partition.
pub fn lower<'g>(links: &'g Links<'g>, profile: Profile) -> Result<Builder<'g>, Refusal> {
    let is_large = |id: &ValueId| links.graph.spec(*id).nbytes() > profile.buffer;
    if links.graph.inputs.iter().any(is_large) {
        let most = profile.buffer >> 20;
        let sentence = format!("an input exceeds {most} MiB, the largest buffer of the target's GPU");
        return Err(Refusal::new(RefusalKind::Shape, sentence));
    }
    let mut builder = Builder::new(links, profile, slices::wanted(links));
    for node in &links.graph.nodes {
        builder.limit_reads(node)?;
        lower_node(&mut builder, node)?;
    }
    builder.finish_results()?;
    Ok(builder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sorted() {
        assert!(RULES.is_sorted_by(|left, right| left.operator < right.operator));
    }
}
