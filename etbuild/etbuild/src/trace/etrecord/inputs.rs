//! The inputs with which the Inspector computes the operators again.

use et_module::{Array, Named};
use etbuild_engine::import::{ExportedGraph, ExportedInput};
use etbuild_ir::TensorSpec;

use super::sizes::{fits, shape};

/// The inputs of the recorded executions.
pub enum GivenInputs {
    /// Zeros of the method's shapes.
    Zeros,
    /// Tensors by name, each of one case or of several.
    Tensors(Named<Array>),
    /// Not known here, as on a device.
    Unknown,
}

/// The inputs of the first execution, in the order of the graph; `None` where these are not those of the graph.
pub fn representative(graph: &ExportedGraph, inputs: &GivenInputs) -> Option<Vec<Array>> {
    let array = |ExportedInput { name, spec }: &ExportedInput| match inputs {
        GivenInputs::Unknown => None,
        GivenInputs::Zeros => Some(Array::zeros(spec.scalar_type, &shape(spec))),
        GivenInputs::Tensors(tensors) => first_case(tensors.get(name)?, spec),
    };
    graph.inputs.iter().map(array).collect()
}

/// The first of the cases that a tensor holds.
fn first_case(given: &Array, spec: &TensorSpec) -> Option<Array> {
    if given.scalar_type != spec.scalar_type {
        return None;
    }
    if fits(&given.shape, spec) {
        return Some(given.clone());
    }
    let shape = shape(spec);
    let length = shape.iter().product::<usize>().checked_mul(given.scalar_type.size())?;
    Some(Array { scalar_type: given.scalar_type, shape, bytes: given.bytes.get(..length)?.to_vec() })
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;

    use super::*;

    #[test]
    fn the_first_of_several_cases_is_taken() {
        let given = Array { scalar_type: ScalarType::Byte, shape: vec![3, 2], bytes: vec![1, 2, 3, 4, 5, 6] };
        let fixed = |sizes: &[i32]| TensorSpec::contiguous(ScalarType::Byte, sizes);
        let first = |spec: &TensorSpec| first_case(&given, spec).map(|array| (array.shape, array.bytes));
        assert_eq!(first(&fixed(&[1, 2])), Some((vec![1, 2], vec![1, 2])));
        let dynamic = fixed(&[8, 2]).with_least([1, 2]);
        assert_eq!(first(&dynamic), Some((vec![3, 2], given.bytes.clone())));
        assert_eq!(first(&fixed(&[4, 4])), None);
        assert_eq!(first(&TensorSpec::contiguous(ScalarType::Char, [3, 2])), None);
    }
}
