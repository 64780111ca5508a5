//! The shape of an input against the dimensions of a file.

use et_module::TensorType;

/// The shape of a tensor with these trailing dimensions: leading dimensions of the input, such as the batch, are 1. `None` if the
/// input takes no such shape.
pub fn shape_for(wanted: &TensorType, dimensions: &[usize]) -> Option<Vec<usize>> {
    let leading = wanted.shape.len().checked_sub(dimensions.len())?;
    let shape: Vec<usize> = std::iter::repeat_n(1, leading).chain(dimensions.iter().copied()).collect();
    let fits = |(size, bound): (&usize, &usize)| size == bound || wanted.dynamic && size <= bound;
    shape.iter().zip(&wanted.shape).all(fits).then_some(shape)
}

/// The type of an input as text, such as `float32[1, 3, 224, 224]`.
pub fn text(wanted: &TensorType) -> String {
    let bound = if wanted.dynamic { "at most " } else { "" };
    format!("{bound}{}{:?}", wanted.scalar_type.name(), wanted.shape)
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;

    use super::*;

    #[test]
    fn leading_dimensions_are_one() {
        let wanted =
            |shape: &[usize], dynamic| TensorType { scalar_type: ScalarType::Float, shape: shape.to_vec(), dynamic };
        assert_eq!(shape_for(&wanted(&[1, 3, 4, 5], false), &[3, 4, 5]), Some(vec![1, 3, 4, 5]));
        assert_eq!(shape_for(&wanted(&[3, 4, 5], false), &[3, 4, 5]), Some(vec![3, 4, 5]));
        assert_eq!(shape_for(&wanted(&[8, 3, 4, 5], true), &[3, 2, 5]), Some(vec![1, 3, 2, 5]));
        for (shape, dynamic) in [(&[2, 3, 4, 5][..], false), (&[4, 5], false), (&[1, 3, 4, 4], true)] {
            assert_eq!(shape_for(&wanted(shape, dynamic), &[3, 4, 5]), None, "{shape:?}");
        }
    }
}
