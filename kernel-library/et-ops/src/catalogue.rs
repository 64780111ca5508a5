//! The one list of operators, and how to find one in it.

use crate::Operator;

/// Every operator, in the order of its name.
pub static OPERATORS: &[&Operator] = &[
    &crate::to_copy::TO_COPY,
    &crate::abs::ABS,
    &crate::add::ADD_SCALAR,
    &crate::add::ADD,
    &crate::bitwise_and::BITWISE_AND_TENSOR,
    &crate::bitwise_not::BITWISE_NOT,
    &crate::bitwise_or::BITWISE_OR_TENSOR,
    &crate::bitwise_xor::BITWISE_XOR_TENSOR,
    &crate::ceil::CEIL,
    &crate::clamp::CLAMP,
    &crate::clone::CLONE,
    &crate::copy::COPY,
    &crate::cos::COS,
    &crate::div::DIV_SCALAR_MODE,
    &crate::div::DIV_SCALAR,
    &crate::div::DIV,
    &crate::div::DIV_MODE,
    &crate::elu::ELU,
    &crate::eq::EQ_SCALAR,
    &crate::eq::EQ_TENSOR,
    &crate::erf::ERF,
    &crate::exp::EXP,
    &crate::fill::FILL_SCALAR,
    &crate::floor::FLOOR,
    &crate::full::FULL,
    &crate::full_like::FULL_LIKE,
    &crate::ge::GE_SCALAR,
    &crate::ge::GE_TENSOR,
    &crate::gelu::GELU,
    &crate::gt::GT_SCALAR,
    &crate::gt::GT_TENSOR,
    &crate::hardtanh::HARDTANH,
    &crate::isinf::ISINF,
    &crate::isnan::ISNAN,
    &crate::le::LE_SCALAR,
    &crate::le::LE_TENSOR,
    &crate::leaky_relu::LEAKY_RELU,
    &crate::log::LOG,
    &crate::logical_and::LOGICAL_AND,
    &crate::logical_not::LOGICAL_NOT,
    &crate::logical_or::LOGICAL_OR,
    &crate::logical_xor::LOGICAL_XOR,
    &crate::lt::LT_SCALAR,
    &crate::lt::LT_TENSOR,
    &crate::maximum::MAXIMUM,
    &crate::minimum::MINIMUM,
    &crate::mul::MUL_SCALAR,
    &crate::mul::MUL,
    &crate::ne::NE_SCALAR,
    &crate::ne::NE_TENSOR,
    &crate::neg::NEG,
    &crate::pow::POW_SCALAR,
    &crate::pow::POW_TENSOR,
    &crate::reciprocal::RECIPROCAL,
    &crate::relu::RELU,
    &crate::round::ROUND,
    &crate::rsqrt::RSQRT,
    &crate::rsub::RSUB_SCALAR,
    &crate::sigmoid::SIGMOID,
    &crate::sign::SIGN,
    &crate::sin::SIN,
    &crate::sqrt::SQRT,
    &crate::sub::SUB_SCALAR,
    &crate::sub::SUB,
    &crate::tanh::TANH,
    &crate::trunc::TRUNC,
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
