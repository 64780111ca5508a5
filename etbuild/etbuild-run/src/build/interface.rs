//! What generated code has to know of a program file.

use std::collections::BTreeSet;

use et_core::Indices;
use et_format::{ExecutionPlan, Kind, ProgramFile};
use et_module::{program_in, result_count};

use super::Error;
use super::kernels::{KernelRow, KernelTable};
use super::rust_type::{self, RustType};
use crate::describe::MethodFacts;

/// The backends by the names of their delegates in program files, with their constants in [`crate::backends`].
pub const BACKENDS: [(&str, &str); 5] = [
    ("EtbuildCpu", "CPU"),
    ("EtbuildCortexM", "CORTEX_M"),
    ("EtbuildEthosU", "ETHOS_U"),
    ("EtbuildGpu", "GPU"),
    ("EtbuildQnn", "QNN"),
];

/// A program file for generated code.
pub struct Interface {
    /// The methods, in the order of the file.
    pub methods: Vec<MethodInterface>,
    /// The kernels of all methods.
    pub kernels: Vec<KernelRow>,
    /// The constants of the backends of all methods.
    pub backends: Vec<&'static str>,
}

/// A method for generated code.
pub struct MethodInterface {
    /// The name.
    pub name: String,
    /// The inputs that a caller gives.
    pub inputs: Vec<Port>,
    /// The outputs that a caller gets.
    pub outputs: Vec<Port>,
}

/// An input or output.
pub struct Port {
    /// The name.
    pub name: String,
    /// The position.
    pub index: usize,
    /// The type.
    pub rust: RustType,
}

impl Interface {
    /// Reads a program file, bundled or not.
    ///
    /// # Errors
    /// As [`super::Generator::generate`].
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let program = program_in(bytes)?;
        let file = ProgramFile::parse(program)?;
        let (mut methods, mut kernels, mut delegates) = (Vec::new(), KernelTable::default(), BTreeSet::new());
        for plan in file.program().execution_plans()?.iter() {
            let plan = plan?;
            kernels.add(plan)?;
            for delegate in plan.delegates()?.iter() {
                delegates.insert(delegate?.id()?.to_owned());
            }
            methods.push(MethodInterface::read(program, file, plan)?);
        }
        Ok(Self { methods, kernels: kernels.into_rows()?, backends: backends(delegates)? })
    }
}

/// The constants of backends.
fn backends(delegates: BTreeSet<String>) -> Result<Vec<&'static str>, Error> {
    let known = |id: &String| BACKENDS.iter().find(|(known, _)| known == id).map(|(_, constant)| *constant);
    let found: Vec<&str> = delegates.iter().filter_map(known).collect();
    if found.len() == delegates.len() {
        return Ok(found);
    }
    Err(Error::Delegates(delegates.into_iter().filter(|id| known(id).is_none()).collect()))
}

impl MethodInterface {
    fn read(program: &[u8], file: ProgramFile<'_>, plan: ExecutionPlan<'_>) -> Result<Self, Error> {
        let name = plan.name()?.to_owned();
        let facts = MethodFacts::read(program, &name).map_err(|_| et_core::Error::InvalidProgram)?;
        let least = file.least_sizes(&name).unwrap_or_default();
        let least: Vec<Vec<i32>> =
            least.lines().map(|line| line.split(',').map_while(|size| size.parse().ok()).collect()).collect();
        let mut method = Self { name, inputs: Vec::new(), outputs: Vec::new() };
        for (index, tensor) in facts.inputs.iter().enumerate() {
            // The export fixed the values of other inputs.
            let Some(tensor) = tensor else { continue };
            let name = facts.input_names.get(index).cloned().unwrap_or_else(|| format!("input_{index}"));
            let rust = rust_type::input(tensor, least.get(index).map_or(&[], Vec::as_slice));
            let rust = rust.ok_or_else(|| method.refused(&name, "a tensor of complex numbers"))?;
            method.inputs.push(Port { name, index, rust });
        }
        let hidden = hidden_outputs(plan, facts.outputs.len())?;
        let slots = plan.outputs()?;
        for (index, tensor) in facts.outputs.iter().skip(hidden).enumerate() {
            let name = format!("output_{index}");
            let rust = match tensor {
                Some(tensor) => Some(
                    rust_type::output(tensor).ok_or_else(|| method.refused(&name, "a tensor of complex numbers"))?,
                ),
                None => constant(plan, slots, hidden + index)?.map_err(|kind| method.refused(&name, kind))?,
            };
            method.outputs.extend(rust.map(|rust| Port { name, index, rust }));
        }
        Ok(method)
    }

    fn refused(&self, port: &str, kind: &'static str) -> Error {
        Error::Port { method: self.name.clone(), port: port.to_owned(), kind }
    }
}

/// The number of outputs ahead of the results: new values of inputs that the method mutates.
fn hidden_outputs(plan: ExecutionPlan<'_>, count: usize) -> et_core::Result<usize> {
    let tree = plan.container_metadata()?.map(|container| container.outputs()).transpose()?;
    Ok(tree.and_then(result_count).map_or(0, |results| count.saturating_sub(results)))
}

/// The type of an output that is no tensor; `None` for Python's `None`, and the kind of a list.
fn constant(
    plan: ExecutionPlan<'_>,
    slots: Indices<'_>,
    index: usize,
) -> et_core::Result<Result<Option<RustType>, &'static str>> {
    let slot = slots.get(index).and_then(|slot| usize::try_from(slot).ok()).ok_or(et_core::Error::InvalidProgram)?;
    Ok(Ok(Some(RustType::Constant(match plan.value(slot)?.kind()? {
        Kind::Null => return Ok(Ok(None)),
        Kind::Int => "Int",
        Kind::Bool => "Bool",
        Kind::Double => "Double",
        Kind::String => "Text",
        _ => return Ok(Err("a list")),
    }))))
}

#[cfg(test)]
mod tests {
    use super::BACKENDS;

    #[test]
    fn every_backend_is_known_by_its_name_in_program_files() {
        for name in crate::backends::names() {
            assert!(BACKENDS.iter().any(|(id, _)| *id == name), "{name}");
        }
    }
}
