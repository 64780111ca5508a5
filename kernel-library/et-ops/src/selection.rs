//! Which types a kernel is compiled for.

use et_core::{Dtypes, ScalarType};

/// The dtypes `D` of a kernel for a call with these tensors: the dtypes of all input tensors and of the first output, as far
/// as `kernel`, the dtypes of the operator, has the latter. The complex results of a Fourier transform of real tensors, for
/// example, follow from the input, on which the kernel dispatches.
///
/// Later outputs do not count: the operator fixes their dtype (the `int64` indices of pooling and searching), or they
/// share the dtype of an input, so no kernel dispatches on the later outputs. Without this rule every program that
/// pools `float32` images would contain the code that pools `int64` images.
pub fn selection(
    kernel: Dtypes,
    inputs: impl IntoIterator<Item = ScalarType>,
    outputs: impl IntoIterator<Item = ScalarType>,
) -> Dtypes {
    let output = outputs.into_iter().take(1).filter(|scalar_type| kernel.contains(*scalar_type));
    inputs.into_iter().chain(output).fold(Dtypes::NONE, Dtypes::with)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Dtypes = Dtypes(u32::MAX);

    #[test]
    fn outputs_of_dtypes_that_no_kernel_dispatches_on_select_nothing() {
        let real = Dtypes::of(&[ScalarType::Float]);
        let halved = selection(real, [ScalarType::Float], [ScalarType::ComplexFloat, ScalarType::Float]);
        assert_eq!(halved, real);
        assert!(!selection(real, [ScalarType::ComplexFloat], []).contains(ScalarType::Float));
    }

    #[test]
    fn index_outputs_select_nothing() {
        let pooled = selection(ALL, [ScalarType::Float], [ScalarType::Float, ScalarType::Long]);
        assert_eq!(pooled, Dtypes::of(&[ScalarType::Float]));
    }

    #[test]
    fn index_inputs_and_first_outputs_do() {
        assert!(selection(ALL, [ScalarType::Float, ScalarType::Long], []).contains(ScalarType::Long));
        assert!(selection(ALL, [ScalarType::Float], [ScalarType::Bool]).contains(ScalarType::Bool));
    }
}
