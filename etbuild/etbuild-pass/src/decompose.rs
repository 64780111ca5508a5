//! What operators outside Core ATen become.

mod activation;
mod attention;
mod convolution;
mod create;
mod distance;
mod fourier;
mod identity;
mod instance_norm;
mod join;
mod linear;
mod mask;
mod matmul;
mod normalize;
mod number;
mod piece;
mod pool;
pub mod recurrent;
mod recurrent_cell;
mod reduce;
mod reorder;
mod reshape;
mod resize;
mod signal_pool;
mod softmax;
mod volume_pool;
mod wrap;

use etbuild_ir::OperatorName;

use crate::edit::Rule;

/// The rule for an operator.
pub fn rule(operator: &OperatorName) -> Option<Rule> {
    let name = operator.as_str().strip_prefix("aten.")?;
    let index = RULES.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    RULES.get(index).map(|(_, rule)| *rule)
}

/// Every operator with a rule, in the order of names.
const RULES: &[(&str, Rule)] = &[
    ("__and__.Scalar", number::bitwise_and_scalar),
    ("__and__.Tensor", number::bitwise_and),
    ("__or__.Tensor", number::bitwise_or),
    ("__xor__.Tensor", number::bitwise_xor),
    ("_conj.default", fourier::conjugate),
    ("_unsafe_view.default", reshape::reshape),
    ("_upsample_bilinear2d_aa.vec", resize::linear),
    ("abs.default", fourier::abs),
    ("adaptive_avg_pool1d.default", pool::adaptive_average_1d),
    ("adaptive_avg_pool2d.default", pool::adaptive_average),
    ("adaptive_avg_pool3d.default", volume_pool::adaptive_average),
    ("adaptive_max_pool1d.default", signal_pool::adaptive_max),
    ("addcdiv.default", number::add_quotient),
    ("addcmul.default", number::add_product),
    ("alias.default", identity::operand),
    ("alpha_dropout.default", identity::dropout),
    ("arange.default", create::arange),
    ("arange.start", create::arange_from),
    ("avg_pool1d.default", signal_pool::average),
    ("batch_norm.default", normalize::batch_norm),
    ("cdist.default", distance::of_pairs),
    ("chunk.default", piece::pieces),
    ("clamp_max.default", activation::clamp_max),
    ("clamp_min.default", activation::clamp_min),
    ("clone.default", identity::operand),
    ("concat.default", join::concat),
    ("concatenate.default", join::concat),
    ("conj_physical.default", fourier::conjugate),
    ("contiguous.default", identity::operand),
    ("conv1d.default", convolution::convolution),
    ("conv1d.padding", convolution::named_padding),
    ("conv2d.default", convolution::convolution),
    ("conv2d.padding", convolution::named_padding),
    ("conv3d.default", convolution::convolution),
    ("conv3d.padding", convolution::named_padding),
    ("conv_transpose1d.default", convolution::transposed),
    ("conv_transpose2d.input", convolution::transposed),
    ("conv_transpose3d.input", convolution::transposed),
    ("copy.default", identity::copy),
    ("detach.default", identity::operand),
    ("dropout.default", identity::dropout),
    ("expand_as.default", reshape::expand),
    ("feature_dropout.default", identity::dropout),
    ("fft_fft.default", fourier::real_to_all),
    ("fft_fft2.default", fourier::real_to_all),
    ("fft_fftn.default", fourier::real_to_all),
    ("fft_irfft.default", fourier::half_to_real),
    ("fft_irfft2.default", fourier::half_to_real),
    ("fft_irfftn.default", fourier::half_to_real),
    ("fft_rfft.default", fourier::real_to_half),
    ("fft_rfft2.default", fourier::real_to_half),
    ("fft_rfftn.default", fourier::real_to_half),
    ("fill.Scalar", create::like_second),
    ("flatten.using_ints", reshape::reshape),
    ("full_like.default", create::like_second),
    ("grid_sampler.default", resize::sample),
    ("group_norm.default", normalize::group_norm),
    ("gru.input", recurrent::unrolled),
    ("hardsigmoid.default", activation::hardsigmoid),
    ("hardswish.default", activation::hardswish),
    ("imag.default", fourier::imaginary),
    ("instance_norm.default", instance_norm::instance_norm),
    ("layer_norm.default", normalize::layer_norm),
    ("lift_fresh_copy.default", identity::operand),
    ("linear.default", linear::linear),
    ("log_softmax.int", softmax::log_softmax),
    ("lstm.input", recurrent::unrolled),
    ("masked_fill.Scalar", mask::fill),
    ("matmul.default", matmul::matmul),
    ("max.default", reduce::max),
    ("max_pool1d.default", signal_pool::max),
    ("max_pool2d.default", pool::max),
    ("max_pool3d.default", volume_pool::max),
    ("mean.default", reduce::mean),
    ("min.default", reduce::min),
    ("mish.default", activation::mish),
    ("movedim.int", reorder::move_one),
    ("narrow.default", piece::narrow),
    ("new_full.default", create::full_of_size),
    ("new_ones.default", create::ones),
    ("new_zeros.default", create::zeros),
    ("numpy_T.default", reorder::reverse),
    ("ones.default", create::ones),
    ("ones_like.default", create::ones),
    ("pad.default", join::pad),
    ("pdist.default", distance::within),
    ("prelu.default", activation::prelu),
    ("real.default", fourier::real),
    ("relu6.default", activation::relu6),
    ("reshape.default", reshape::reshape_to),
    ("reshape_as.default", reshape::reshape),
    ("resolve_conj.default", identity::operand),
    ("rms_norm.default", normalize::rms_norm),
    ("rnn_relu.input", recurrent::unrolled),
    ("rnn_tanh.input", recurrent::unrolled),
    ("rsub.Scalar", number::subtract_from_scalar),
    ("rsub.Tensor", number::subtract_from),
    ("scalar_tensor.default", create::scalar),
    ("scaled_dot_product_attention.default", attention::attention),
    ("silu.default", activation::silu),
    ("softmax.int", softmax::softmax),
    ("split.Tensor", piece::pieces),
    ("split.sizes", piece::pieces),
    ("split_with_sizes.default", piece::pieces),
    ("square.default", number::square),
    ("squeeze.default", reshape::reshape),
    ("squeeze.dim", reshape::reshape),
    ("squeeze.dims", reshape::reshape),
    ("stack.default", join::stack),
    ("sum.default", reduce::sum),
    ("swapaxes.default", reorder::swap),
    ("swapdims.default", reorder::swap),
    ("t.default", reorder::reverse),
    ("to.device", identity::convert),
    ("to.dtype", identity::convert),
    ("to.dtype_layout", identity::convert),
    ("to.other", identity::convert),
    ("transpose.int", reorder::swap),
    ("type_as.default", identity::convert),
    ("unbind.int", piece::unbind),
    ("unflatten.int", reshape::reshape),
    ("unsqueeze.default", reshape::reshape),
    ("upsample_linear1d.vec", resize::linear),
    ("upsample_nearest1d.vec", resize::nearest),
    ("upsample_nearest3d.vec", resize::nearest),
    ("upsample_trilinear3d.vec", resize::linear),
    ("view.default", reshape::view),
    ("view_as.default", reshape::reshape),
    ("view_as_real.default", fourier::parts_of),
    ("where.ScalarOther", mask::choose),
    ("where.ScalarSelf", mask::choose),
    ("zero.default", create::zeros),
    ("zeros.default", create::zeros),
    ("zeros_like.default", create::zeros),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(RULES.is_sorted_by(|left, right| left.0 < right.0));
    }
}
