//! The facts of a program file about a method.

use et_core::{Indices, ScalarType};
use et_format::{ExecutionPlan, Kind, ProgramFile, ShapeDynamism, Tensor, View};
use et_module::{Error, program_in};
use et_runtime::{MethodPlan, Program};

/// The inputs and outputs of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodFacts {
    /// The names of the inputs, where the file has names.
    pub input_names: Vec<String>,
    /// The tensors among the inputs; `None` for a number, a text or a list.
    pub inputs: Vec<Option<TensorFacts>>,
    /// The tensors among the outputs; `None` for a number, a text or a list.
    pub outputs: Vec<Option<TensorFacts>>,
    /// The names and types of the state.
    pub attributes: Vec<(String, TensorFacts)>,
}

/// The type of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorFacts {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The sizes, outermost first; the upper bounds of a dynamic shape.
    pub sizes: Vec<i32>,
    /// Whether smaller sizes are allowed.
    pub dynamic: bool,
    /// Whether the tensor has memory in an arena or in the file.
    pub planned: bool,
    /// The bytes of the largest tensor.
    pub nbytes: usize,
}

impl MethodFacts {
    /// Reads the facts of the method `name` in a program file, bundled or not.
    ///
    /// # Errors
    /// A malformed file, or a file without the method.
    pub fn read(file: &[u8], name: &str) -> Result<Self, Error> {
        let program = Program::new(program_in(file)?)?;
        let method = match program.method(name) {
            Err(et_core::Error::NotFound) => {
                let methods = names(program.file())?;
                return Err(Error::MethodMissing { name: name.to_owned(), methods });
            }
            method => method?,
        };
        Ok(Self::of(method)?)
    }

    fn of(method: MethodPlan<'_>) -> et_core::Result<Self> {
        let plan = method.plan();
        let names = method.file().input_names(plan.name()?).unwrap_or_default();
        Ok(Self {
            input_names: names.lines().map(str::to_owned).collect(),
            inputs: tensors(plan, plan.inputs()?)?,
            outputs: tensors(plan, plan.outputs()?)?,
            attributes: attributes(plan)?,
        })
    }
}

/// The names of the methods, in the order of the file.
pub(crate) fn names(file: ProgramFile<'_>) -> et_core::Result<Vec<String>> {
    file.program().execution_plans()?.iter().map(|plan| Ok(plan?.name()?.to_owned())).collect()
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
        scalar_type,
        nbytes: count.ok_or(et_core::Error::InvalidProgram)?,
        sizes,
        dynamic: tensor.shape_dynamism()? != ShapeDynamism::Static,
        planned: tensor.allocation()?.is_some() || tensor.data_buffer_index()? > 0,
    })
}
