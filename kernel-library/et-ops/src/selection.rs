//! Which types a kernel is compiled for.

use et_core::{Dtypes, ScalarType};

/// The dtypes `D` of a kernel for a call with these tensors: the dtypes of all input tensors and of the first output.
///
/// Later outputs do not count: the operator fixes their dtype (the `int64` indices of pooling and searching), or they
/// share the dtype of an input, so no kernel dispatches on the later outputs. Without this rule every program that
/// pools `float32` images would contain the code that pools `int64` images.
pub fn selection(
    inputs: impl IntoIterator<Item = ScalarType>,
    outputs: impl IntoIterator<Item = ScalarType>,
) -> Dtypes {
    inputs.into_iter().chain(outputs.into_iter().take(1)).fold(Dtypes::NONE, Dtypes::with)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_outputs_select_nothing() {
        let pooled = selection([ScalarType::Float], [ScalarType::Float, ScalarType::Long]);
        assert_eq!(pooled, Dtypes::of(&[ScalarType::Float]));
    }

    #[test]
    fn index_inputs_and_first_outputs_do() {
        assert!(selection([ScalarType::Float, ScalarType::Long], []).contains(ScalarType::Long));
        assert!(selection([ScalarType::Float], [ScalarType::Bool]).contains(ScalarType::Bool));
    }
}
