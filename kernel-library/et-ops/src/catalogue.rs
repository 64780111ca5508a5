//! The one list of operators, and how to find one in it.

use et_core::Kernel;

use crate::{Operator, find_primitive};

/// Every operator, in the order of its name.
pub static OPERATORS: &[&Operator] = &[
    &crate::adaptive_avg_pool2d::ADAPTIVE_AVG_POOL2D,
    &crate::log_softmax::LOG_SOFTMAX,
    &crate::native_batch_norm_legit_no_training::NATIVE_BATCH_NORM_LEGIT_NO_TRAINING,
    &crate::softmax::SOFTMAX,
    &crate::to_copy::TO_COPY,
    &crate::abs::ABS,
    &crate::add::ADD_SCALAR,
    &crate::add::ADD,
    &crate::addmm::ADDMM,
    &crate::amax::AMAX,
    &crate::amin::AMIN,
    &crate::any::ANY_ALL,
    &crate::any::ANY,
    &crate::arange::ARANGE,
    &crate::arange::ARANGE_START,
    &crate::argmax::ARGMAX,
    &crate::argmin::ARGMIN,
    &crate::avg_pool2d::AVG_POOL2D,
    &crate::bitwise_and::BITWISE_AND_TENSOR,
    &crate::bitwise_not::BITWISE_NOT,
    &crate::bitwise_or::BITWISE_OR_TENSOR,
    &crate::bitwise_xor::BITWISE_XOR_TENSOR,
    &crate::bmm::BMM,
    &crate::cat::CAT,
    &crate::ceil::CEIL,
    &crate::clamp::CLAMP,
    &crate::clone::CLONE,
    &crate::constant_pad_nd::CONSTANT_PAD_ND,
    &crate::convolution::CONVOLUTION,
    &crate::copy::COPY,
    &crate::cos::COS,
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
    &crate::fill::FILL_SCALAR,
    &crate::flip::FLIP,
    &crate::floor::FLOOR,
    &crate::full::FULL,
    &crate::full_like::FULL_LIKE,
    &crate::gather::GATHER,
    &crate::ge::GE_SCALAR,
    &crate::ge::GE_TENSOR,
    &crate::gelu::GELU,
    &crate::gt::GT_SCALAR,
    &crate::gt::GT_TENSOR,
    &crate::hardtanh::HARDTANH,
    &crate::index_select::INDEX_SELECT,
    &crate::isinf::ISINF,
    &crate::isnan::ISNAN,
    &crate::le::LE_SCALAR,
    &crate::le::LE_TENSOR,
    &crate::leaky_relu::LEAKY_RELU,
    &crate::linear::LINEAR,
    &crate::log::LOG,
    &crate::logical_and::LOGICAL_AND,
    &crate::logical_not::LOGICAL_NOT,
    &crate::logical_or::LOGICAL_OR,
    &crate::logical_xor::LOGICAL_XOR,
    &crate::lt::LT_SCALAR,
    &crate::lt::LT_TENSOR,
    &crate::max::MAX_DIM,
    &crate::max_pool2d_with_indices::MAX_POOL2D_WITH_INDICES,
    &crate::maximum::MAXIMUM,
    &crate::mean::MEAN,
    &crate::min::MIN_DIM,
    &crate::minimum::MINIMUM,
    &crate::mm::MM,
    &crate::mul::MUL_SCALAR,
    &crate::mul::MUL,
    &crate::native_group_norm::NATIVE_GROUP_NORM,
    &crate::native_layer_norm::NATIVE_LAYER_NORM,
    &crate::ne::NE_SCALAR,
    &crate::ne::NE_TENSOR,
    &crate::neg::NEG,
    &crate::permute_copy::PERMUTE_COPY,
    &crate::pow::POW_SCALAR,
    &crate::pow::POW_TENSOR,
    &crate::reciprocal::RECIPROCAL,
    &crate::relu::RELU,
    &crate::repeat::REPEAT,
    &crate::round::ROUND,
    &crate::rsqrt::RSQRT,
    &crate::rsub::RSUB_SCALAR,
    &crate::select_copy::SELECT_COPY,
    &crate::sigmoid::SIGMOID,
    &crate::sign::SIGN,
    &crate::sin::SIN,
    &crate::slice_copy::SLICE_COPY,
    &crate::sqrt::SQRT,
    &crate::squeeze_copy::SQUEEZE_COPY_DIM,
    &crate::squeeze_copy::SQUEEZE_COPY_DIMS,
    &crate::stack::STACK,
    &crate::sub::SUB_SCALAR,
    &crate::sub::SUB,
    &crate::sum::SUM,
    &crate::t_copy::T_COPY,
    &crate::tanh::TANH,
    &crate::topk::TOPK,
    &crate::transpose_copy::TRANSPOSE_COPY,
    &crate::trunc::TRUNC,
    &crate::unsqueeze_copy::UNSQUEEZE_COPY,
    &crate::var::VAR,
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
