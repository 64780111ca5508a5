//! The facts of a program file about a method.

use et_core::Indices;
use et_format::{ExecutionPlan, Kind, ShapeDynamism, Tensor, View};
use et_module::{Error, program_in};
use et_runtime::{MethodPlan, Program};
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
pub fn describe(file: &[u8], name: &str) -> Result<MethodFacts, Error> {
    let program = Program::new(program_in(file)?)?;
    let method = match program.method(name) {
        Err(et_core::Error::NotFound) => return Err(missing(&program, name)?),
        method => method?,
    };
    let plan = method.plan();
    let names = method.file().input_names(name).unwrap_or_default();
    Ok(MethodFacts {
        input_names: names.lines().map(str::to_owned).collect(),
        inputs: tensors(plan, plan.inputs()?)?,
        outputs: tensors(plan, plan.outputs()?)?,
        attributes: attributes(plan)?,
    })
}

fn missing(program: &Program<'_>, name: &str) -> et_core::Result<Error> {
    let known = |plan: MethodPlan<'_>| Ok(plan.plan().name()?.to_owned());
    let methods = (0..program.method_count()?).map(|index| program.method_at(index).and_then(known));
    Ok(Error::MethodMissing { name: name.to_owned(), methods: methods.collect::<et_core::Result<_>>()? })
}

/// The tensors in slots of the value table; `None` for numbers, texts and lists.
fn tensors(plan: ExecutionPlan<'_>, slots: Indices<'_>) -> et_core::Result<Vec<Option<TensorFacts>>> {
    let facts = |slot: i32| {
        let value = plan.value(usize::try_from(slot).map_err(|_| et_core::Error::InvalidProgram)?)?;
        if value.kind()? != Kind::Tensor {
            return Ok(None);
        }
        tensor(Tensor::of(value.content()?)).map(Some)
    };
    slots.iter().map(facts).collect()
}

/// The tensors with a name and planned memory.
fn attributes(plan: ExecutionPlan<'_>) -> et_core::Result<Vec<(String, TensorFacts)>> {
    let mut found = Vec::new();
    for value in plan.values()?.iter() {
        let value = value?;
        if value.kind()? != Kind::Tensor {
            continue;
        }
        let state = Tensor::of(value.content()?);
        if let (Some(extra), Some(_)) = (state.extra()?, state.allocation()?) {
            found.push((extra.fully_qualified_name()?.to_owned(), tensor(state)?));
        }
    }
    Ok(found)
}

fn tensor(tensor: Tensor<'_>) -> et_core::Result<TensorFacts> {
    let scalar_type = tensor.scalar_type()?;
    let sizes: Vec<i32> = tensor.sizes()?.iter().collect();
    let count =
        sizes.iter().try_fold(scalar_type.size(), |count, size| count.checked_mul(usize::try_from(*size).ok()?));
    Ok(TensorFacts {
        scalar_type: scalar_type as u8,
        dtype: scalar_type.name(),
        nbytes: count.ok_or(et_core::Error::InvalidProgram)?,
        sizes,
        dynamic: tensor.shape_dynamism()? != ShapeDynamism::Static,
        planned: tensor.allocation()?.is_some() || tensor.data_buffer_index()? > 0,
    })
}
