//! The facts of a program file about a method, for Python.

use etbuild_run::{Error, Program};
use pyo3::prelude::*;

/// The inputs and outputs of a method.
#[derive(IntoPyObject)]
pub struct MethodFacts {
    /// The names of the inputs, where the file has names.
    input_names: Vec<String>,
    inputs: Vec<Option<TensorFacts>>,
    outputs: Vec<Option<TensorFacts>>,
    /// The names and types of the state.
    attributes: Vec<(String, TensorFacts)>,
}

/// The type of a tensor.
#[derive(IntoPyObject)]
pub struct TensorFacts {
    /// The number of the type of the elements in ExecuTorch's `schema/scalar_type.fbs`.
    scalar_type: u8,
    /// The name of the type in PyTorch.
    dtype: &'static str,
    /// The sizes; the upper bounds of a dynamic shape.
    sizes: Vec<i32>,
    dynamic: bool,
    /// Whether the tensor has memory in an arena or in the file.
    planned: bool,
    nbytes: usize,
}

/// Reads the facts of a method.
///
/// # Errors
/// A malformed file, or a file without the method.
pub fn describe(program: &Program, name: &str) -> Result<MethodFacts, Error> {
    let facts = program.describe(name)?;
    let tensors =
        |tensors: Vec<Option<etbuild_run::TensorFacts>>| tensors.into_iter().map(|found| found.map(tensor)).collect();
    Ok(MethodFacts {
        input_names: facts.input_names,
        inputs: tensors(facts.inputs),
        outputs: tensors(facts.outputs),
        attributes: facts.attributes.into_iter().map(|(name, state)| (name, tensor(state))).collect(),
    })
}

fn tensor(facts: etbuild_run::TensorFacts) -> TensorFacts {
    let etbuild_run::TensorFacts { scalar_type, sizes, dynamic, planned, nbytes } = facts;
    TensorFacts { scalar_type: scalar_type as u8, dtype: scalar_type.name(), sizes, dynamic, planned, nbytes }
}
