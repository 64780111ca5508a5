//! The one list of operators, and how to find one in it.

use et_core::Kernel;

use crate::{Operator, find_primitive};

/// Every operator, in the order of its name.
pub static OPERATORS: &[&Operator] = &[
    &crate::adaptive_avg_pool2d::ADAPTIVE_AVG_POOL2D,
    &crate::adaptive_avg_pool3d::ADAPTIVE_AVG_POOL3D,
    &crate::cdist_forward::CDIST_FORWARD,
    &crate::conj_physical::CONJ_PHYSICAL,
    &crate::log_softmax::LOG_SOFTMAX,
    &crate::native_batch_norm_legit::NATIVE_BATCH_NORM_LEGIT_NO_STATS,
    &crate::native_batch_norm_legit::NATIVE_BATCH_NORM_LEGIT,
    &crate::native_batch_norm_legit_no_training::NATIVE_BATCH_NORM_LEGIT_NO_TRAINING,
    &crate::pdist_forward::PDIST_FORWARD,
    &crate::softmax::SOFTMAX,
    &crate::to_copy::TO_COPY,
    &crate::upsample_bilinear2d_aa::UPSAMPLE_BILINEAR2D_AA,
    &crate::abs::ABS,
    &crate::acos::ACOS,
    &crate::acosh::ACOSH,
    &crate::adaptive_max_pool2d::ADAPTIVE_MAX_POOL2D,
    &crate::adaptive_max_pool3d::ADAPTIVE_MAX_POOL3D,
    &crate::add::ADD_SCALAR,
    &crate::add::ADD,
    &crate::addmm::ADDMM,
    &crate::amax::AMAX,
    &crate::amin::AMIN,
    &crate::any::ANY_ALL,
    &crate::any::ANY_DIMS,
    &crate::any::ANY,
    &crate::arange::ARANGE,
    &crate::arange::ARANGE_START,
    &crate::argmax::ARGMAX,
    &crate::argmin::ARGMIN,
    &crate::asin::ASIN,
    &crate::asinh::ASINH,
    &crate::atan::ATAN,
    &crate::atan2::ATAN2,
    &crate::atanh::ATANH,
    &crate::avg_pool2d::AVG_POOL2D,
    &crate::avg_pool3d::AVG_POOL3D,
    &crate::bitwise_and::BITWISE_AND_SCALAR,
    &crate::bitwise_and::BITWISE_AND_TENSOR,
    &crate::bitwise_left_shift::BITWISE_LEFT_SHIFT_TENSOR_SCALAR,
    &crate::bitwise_left_shift::BITWISE_LEFT_SHIFT_TENSOR,
    &crate::bitwise_not::BITWISE_NOT,
    &crate::bitwise_or::BITWISE_OR_SCALAR,
    &crate::bitwise_or::BITWISE_OR_TENSOR,
    &crate::bitwise_right_shift::BITWISE_RIGHT_SHIFT_TENSOR_SCALAR,
    &crate::bitwise_right_shift::BITWISE_RIGHT_SHIFT_TENSOR,
    &crate::bitwise_xor::BITWISE_XOR_SCALAR,
    &crate::bitwise_xor::BITWISE_XOR_TENSOR,
    &crate::bmm::BMM,
    &crate::cat::CAT,
    &crate::ceil::CEIL,
    &crate::clamp::CLAMP_TENSOR,
    &crate::clamp::CLAMP,
    &crate::clone::CLONE,
    &crate::constant_pad_nd::CONSTANT_PAD_ND,
    &crate::convolution::CONVOLUTION,
    &crate::convolution_backward::CONVOLUTION_BACKWARD,
    &crate::copy::COPY,
    &crate::copy::COPY_IN_PLACE,
    &crate::cos::COS,
    &crate::cosh::COSH,
    &crate::cumsum::CUMSUM,
    &crate::div::DIV_SCALAR_MODE,
    &crate::div::DIV_SCALAR,
    &crate::div::DIV,
    &crate::div::DIV_MODE,
    &crate::elu::ELU,
    &crate::embedding::EMBEDDING,
    &crate::eq::EQ_SCALAR,
    &crate::eq::EQ_TENSOR,
    &crate::erf::ERF,
    &crate::exp::EXP,
    &crate::expand_copy::EXPAND_COPY,
    &crate::expm1::EXPM1,
    &crate::fill::FILL_SCALAR,
    &crate::fill::FILL_TENSOR,
    &crate::flip::FLIP,
    &crate::floor::FLOOR,
    &crate::floor_divide::FLOOR_DIVIDE,
    &crate::fmod::FMOD_SCALAR,
    &crate::fmod::FMOD_TENSOR,
    &crate::full::FULL,
    &crate::full_like::FULL_LIKE,
    &crate::gather::GATHER,
    &crate::ge::GE_SCALAR,
    &crate::ge::GE_TENSOR,
    &crate::gelu::GELU,
    &crate::glu::GLU,
    &crate::gt::GT_SCALAR,
    &crate::gt::GT_TENSOR,
    &crate::hardsigmoid::HARDSIGMOID,
    &crate::hardswish::HARDSWISH,
    &crate::hardtanh::HARDTANH,
    &crate::index_select::INDEX_SELECT,
    &crate::isinf::ISINF,
    &crate::isnan::ISNAN,
    &crate::le::LE_SCALAR,
    &crate::le::LE_TENSOR,
    &crate::leaky_relu::LEAKY_RELU,
    &crate::linear::LINEAR,
    &crate::log::LOG,
    &crate::log10::LOG10,
    &crate::log1p::LOG1P,
    &crate::log2::LOG2,
    &crate::log_sigmoid::LOG_SIGMOID,
    &crate::logical_and::LOGICAL_AND,
    &crate::logical_not::LOGICAL_NOT,
    &crate::logical_or::LOGICAL_OR,
    &crate::logical_xor::LOGICAL_XOR,
    &crate::logit::LOGIT,
    &crate::lt::LT_SCALAR,
    &crate::lt::LT_TENSOR,
    &crate::masked_fill::MASKED_FILL_SCALAR,
    &crate::masked_fill::MASKED_FILL_TENSOR,
    &crate::max::MAX_DIM,
    &crate::max::MAX,
    &crate::max_pool2d_with_indices::MAX_POOL2D_WITH_INDICES,
    &crate::max_pool2d_with_indices_backward::MAX_POOL2D_WITH_INDICES_BACKWARD,
    &crate::max_pool3d_with_indices::MAX_POOL3D_WITH_INDICES,
    &crate::maximum::MAXIMUM,
    &crate::mean::MEAN_ALL,
    &crate::mean::MEAN,
    &crate::min::MIN_DIM,
    &crate::min::MIN,
    &crate::minimum::MINIMUM,
    &crate::mish::MISH,
    &crate::mm::MM,
    &crate::mul::MUL_SCALAR,
    &crate::mul::MUL,
    &crate::native_group_norm::NATIVE_GROUP_NORM,
    &crate::native_layer_norm::NATIVE_LAYER_NORM,
    &crate::ne::NE_SCALAR,
    &crate::ne::NE_TENSOR,
    &crate::neg::NEG,
    &crate::permute_copy::PERMUTE_COPY,
    &crate::pow::POW_SCALAR_TENSOR,
    &crate::pow::POW_SCALAR,
    &crate::pow::POW_TENSOR,
    &crate::prod::PROD_DIM,
    &crate::prod::PROD,
    &crate::reciprocal::RECIPROCAL,
    &crate::reflection_pad1d::REFLECTION_PAD1D,
    &crate::reflection_pad2d::REFLECTION_PAD2D,
    &crate::reflection_pad3d::REFLECTION_PAD3D,
    &crate::relu::RELU,
    &crate::remainder::REMAINDER_SCALAR,
    &crate::remainder::REMAINDER_TENSOR,
    &crate::repeat::REPEAT,
    &crate::replication_pad1d::REPLICATION_PAD1D,
    &crate::replication_pad2d::REPLICATION_PAD2D,
    &crate::replication_pad3d::REPLICATION_PAD3D,
    &crate::round::ROUND,
    &crate::rsqrt::RSQRT,
    &crate::rsub::RSUB_SCALAR,
    &crate::select_copy::SELECT_COPY,
    &crate::sigmoid::SIGMOID,
    &crate::sign::SIGN,
    &crate::silu::SILU,
    &crate::sin::SIN,
    &crate::sinh::SINH,
    &crate::slice_copy::SLICE_COPY,
    &crate::softplus::SOFTPLUS,
    &crate::split_copy::SPLIT_COPY,
    &crate::split_with_sizes_copy::SPLIT_WITH_SIZES_COPY,
    &crate::sqrt::SQRT,
    &crate::squeeze_copy::SQUEEZE_COPY_DIM,
    &crate::squeeze_copy::SQUEEZE_COPY_DIMS,
    &crate::stack::STACK,
    &crate::sub::SUB_SCALAR,
    &crate::sub::SUB,
    &crate::sum::SUM,
    &crate::t_copy::T_COPY,
    &crate::tan::TAN,
    &crate::tanh::TANH,
    &crate::topk::TOPK,
    &crate::transpose_copy::TRANSPOSE_COPY,
    &crate::trunc::TRUNC,
    &crate::unbind_copy::UNBIND_COPY,
    &crate::unsqueeze_copy::UNSQUEEZE_COPY,
    &crate::upsample_bilinear2d::UPSAMPLE_BILINEAR2D_VEC,
    &crate::upsample_linear1d::UPSAMPLE_LINEAR1D,
    &crate::upsample_nearest1d::UPSAMPLE_NEAREST1D,
    &crate::upsample_nearest2d::UPSAMPLE_NEAREST2D_VEC,
    &crate::upsample_nearest3d::UPSAMPLE_NEAREST3D,
    &crate::upsample_trilinear3d::UPSAMPLE_TRILINEAR3D,
    &crate::var::VAR,
    &crate::var::VAR_UNBIASED,
    &crate::var_mean::VAR_MEAN,
    &crate::view_as_real_copy::VIEW_AS_REAL_COPY,
    &crate::view_copy::VIEW_COPY,
    &crate::where_self::WHERE_SELF,
    &crate::clone_dim_order::CLONE_DIM_ORDER,
    &crate::to_dim_order_copy::TO_DIM_ORDER_COPY,
];

/// The operator whose out-variant has this name, such as `aten::add.out`.
pub fn find(name: &str) -> Option<&'static Operator> {
    OPERATORS.iter().copied().find(|operator| operator.name() == name)
}

/// The operator whose functional form has this name, such as `aten::add.Tensor`.
pub fn find_functional(name: &str) -> Option<&'static Operator> {
    OPERATORS.iter().copied().find(|operator| operator.functional == name)
}

/// The kernel that a program calls by this name: an operator's portable one for all types, or a primitive's.
pub fn find_kernel(name: &str) -> Option<Kernel> {
    let operator = find(name).map(|operator| operator.kernel);
    operator.or_else(|| find_primitive(name).map(|primitive| primitive.kernel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_names_are_unique() {
        assert!(OPERATORS.is_sorted_by(|left, right| left.name() < right.name()));
    }

    #[test]
    fn every_operator_is_found_by_both_names() {
        for operator in OPERATORS {
            assert_eq!(find(operator.name()).map(Operator::name), Some(operator.name()));
            assert_eq!(find_functional(operator.functional).map(Operator::name), Some(operator.name()));
        }
    }

    #[test]
    fn every_operator_has_cases() {
        for operator in OPERATORS {
            assert!(!operator.cases.is_empty(), "{}", operator.name());
        }
    }
}
