//! The one list of operators, and how to find one in it.

use crate::Operator;

/// Every operator, in the order of its name.
pub static OPERATORS: &[&Operator] = &[
    &crate::adaptive_avg_pool2d::ADAPTIVE_AVG_POOL2D,
    &crate::log_softmax::LOG_SOFTMAX,
    &crate::native_batch_norm_legit_no_training::NATIVE_BATCH_NORM_LEGIT_NO_TRAINING,
    &crate::softmax::SOFTMAX,
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
    &crate::bmm::BMM,
    &crate::cat::CAT,
    &crate::constant_pad_nd::CONSTANT_PAD_ND,
    &crate::convolution::CONVOLUTION,
    &crate::cumsum::CUMSUM,
    &crate::embedding::EMBEDDING,
    &crate::expand_copy::EXPAND_COPY,
    &crate::flip::FLIP,
    &crate::gather::GATHER,
    &crate::index_select::INDEX_SELECT,
    &crate::linear::LINEAR,
    &crate::max::MAX_DIM,
    &crate::max_pool2d_with_indices::MAX_POOL2D_WITH_INDICES,
    &crate::mean::MEAN,
    &crate::min::MIN_DIM,
    &crate::mm::MM,
    &crate::native_group_norm::NATIVE_GROUP_NORM,
    &crate::native_layer_norm::NATIVE_LAYER_NORM,
    &crate::permute_copy::PERMUTE_COPY,
    &crate::relu::RELU,
    &crate::repeat::REPEAT,
    &crate::select_copy::SELECT_COPY,
    &crate::slice_copy::SLICE_COPY,
    &crate::squeeze_copy::SQUEEZE_COPY_DIM,
    &crate::squeeze_copy::SQUEEZE_COPY_DIMS,
    &crate::stack::STACK,
    &crate::sum::SUM,
    &crate::t_copy::T_COPY,
    &crate::topk::TOPK,
    &crate::transpose_copy::TRANSPOSE_COPY,
    &crate::unsqueeze_copy::UNSQUEEZE_COPY,
    &crate::var::VAR,
    &crate::view_copy::VIEW_COPY,
];

/// The operator whose out-variant has this name, such as `aten::add.out`.
pub fn find(name: &str) -> Option<&'static Operator> {
    OPERATORS.iter().copied().find(|operator| operator.name() == name)
}

/// The operator whose functional form has this name, such as `aten::add.Tensor`.
pub fn find_functional(name: &str) -> Option<&'static Operator> {
    OPERATORS.iter().copied().find(|operator| operator.functional == name)
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
