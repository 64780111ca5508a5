//! Legalization: operators of Core ATen become operators of the kernel catalogue.

mod copy;
mod create;
mod number;
mod view;

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
    ("_to_copy.default", copy::convert),
    ("add.Scalar", number::wrap),
    ("add.Tensor", number::unwrap),
    ("arange.start_step", create::arange),
    ("as_strided.default", view::copy),
    ("bitwise_and.Scalar", number::wrap),
    ("bitwise_and.Tensor", number::unwrap),
    ("bitwise_or.Scalar", number::wrap),
    ("bitwise_or.Tensor", number::unwrap),
    ("bitwise_xor.Scalar", number::wrap),
    ("bitwise_xor.Tensor", number::unwrap),
    ("diagonal.default", view::copy),
    ("div.Scalar", number::wrap),
    ("div.Scalar_mode", number::wrap),
    ("div.Tensor", number::unwrap),
    ("div.Tensor_mode", number::unwrap),
    ("empty.memory_format", create::empty),
    ("eq.Scalar", number::wrap),
    ("eq.Tensor", number::unwrap),
    ("expand.default", view::copy),
    ("fmod.Scalar", number::wrap),
    ("fmod.Tensor", number::unwrap),
    ("full.default", create::full),
    ("ge.Scalar", number::wrap),
    ("ge.Tensor", number::unwrap),
    ("gt.Scalar", number::wrap),
    ("gt.Tensor", number::unwrap),
    ("le.Scalar", number::wrap),
    ("le.Tensor", number::unwrap),
    ("lt.Scalar", number::wrap),
    ("lt.Tensor", number::unwrap),
    ("mul.Scalar", number::wrap),
    ("mul.Tensor", number::unwrap),
    ("ne.Scalar", number::wrap),
    ("ne.Tensor", number::unwrap),
    ("permute.default", view::copy),
    ("pow.Tensor_Scalar", number::wrap),
    ("pow.Tensor_Tensor", number::unwrap),
    ("rand.default", create::sized),
    ("randn.default", create::sized),
    ("remainder.Scalar", number::wrap),
    ("remainder.Tensor", number::unwrap),
    ("select.int", view::copy),
    ("slice.Tensor", view::copy),
    ("split_with_sizes.default", view::copy),
    ("squeeze.dim", view::reshape),
    ("squeeze.dims", view::reshape),
    ("sub.Scalar", number::wrap),
    ("sub.Tensor", number::unwrap),
    ("unfold.default", view::copy),
    ("unsqueeze.default", view::reshape),
    ("view.default", view::copy),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(RULES.is_sorted_by(|left, right| left.0 < right.0));
    }
}
