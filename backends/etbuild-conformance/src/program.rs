//! Compiles a program for the candidate and runs the program on this machine.

use std::collections::BTreeMap;

use et_module::TensorView;
use et_module::{DataFiles, Engines, FileBytes, Kernels, Module};
use et_ops::call::OwnedTensor;
use etbuild_backend::{ALIGNMENT, Refusal};
use etbuild_emit::{EmitOptions, emit};
use etbuild_ir::{ConstantData, LoweredProgram, Program};
use etbuild_memory::{Bank, Options, find_planner, plan};
use etbuild_partition::{Group, InMemory, Partitioned, groups, join, partition};

use crate::Candidate;

/// A program file, and the backend of each node.
pub struct Compiled {
    /// The program file.
    pub file: Vec<u8>,
    /// The partitioner's result.
    pub partitioned: Partitioned,
}

/// Compiles a program for the candidate.
pub fn compile(program: LoweredProgram, candidate: &Candidate<'_>) -> Result<Compiled, String> {
    let partitioned = partition(program, &[candidate.backend], candidate.target, &InMemory);
    let partitioned =
        partitioned.map_err(|violations| format!("the partitioned program is invalid: {violations:?}"))?;
    let mut program = partitioned.program.clone().into_program();
    join_partitions(&mut program, candidate).map_err(|refusal| refusal.to_string())?;
    let program = LoweredProgram::verify(program)
        .map_err(|violations| format!("the joined program is invalid: {violations:?}"))?;
    let planner = find_planner("greedy").ok_or("there is no planner `greedy`")?;
    let bank = Bank { alignment: ALIGNMENT as u64, ..Bank::unlimited("memory") };
    let planned = plan(program, &Options { planner, banks: vec![bank] });
    let planned = planned.map_err(|error| error.to_string())?;
    let (name, id) = (candidate.backend.name().to_owned(), candidate.backend.delegate_id().to_owned());
    let options = EmitOptions { delegates: BTreeMap::from([(name, id)]), ..EmitOptions::default() };
    let mut file = Vec::new();
    emit(&planned, &options, &mut file).map_err(|error| error.to_string())?;
    Ok(Compiled { file, partitioned })
}

/// Joins the partitions of a candidate that joins partitions.
fn join_partitions(program: &mut Program, Candidate { backend, target, .. }: &Candidate<'_>) -> Result<(), Refusal> {
    if !backend.joins() {
        return Ok(());
    }
    let joined = groups(program, *backend, target)?.into_iter().map(|group: Group| {
        let parts: Vec<&[u8]> = group.iter().map(ConstantData::bytes).collect();
        let blob = ConstantData::new(backend.join(&parts, target)?);
        Ok((group, blob))
    });
    join(program, *backend, &joined.collect::<Result<Vec<_>, Refusal>>()?)
}

/// Loads a program file with the candidate's delegate.
pub fn load(file: &[u8], candidate: &Candidate<'_>) -> Result<Module, String> {
    let engines = Engines::new(candidate.engines, candidate.threads);
    let kernels = Kernels::Lookup(&kernel);
    let module = Module::load_method(FileBytes::copied(file), DataFiles::default(), "forward", kernels, &engines);
    module.map_err(|error| error.to_string())
}

fn kernel(name: &str, overload: &str) -> Option<et_core::Kernel> {
    let name = if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") };
    et_ops::find_kernel(&name)
}

/// The outputs of the method for these input elements.
pub fn run(module: &mut Module, inputs: &[Vec<u8>]) -> Result<Vec<OwnedTensor>, String> {
    for (index, bytes) in inputs.iter().enumerate() {
        let wanted = module.input_type(index).map_err(|error| error.to_string())?;
        let wanted = wanted.ok_or_else(|| format!("input {index} is no tensor"))?;
        let view = TensorView { scalar_type: wanted.scalar_type, shape: wanted.shape, bytes };
        module.set_input(index, &view).map_err(|error| error.to_string())?;
    }
    module.execute().map_err(|error| error.to_string())?;
    let arrays = module.outputs().map_err(|error| error.to_string())?.arrays;
    let output = |index: usize| {
        let array = arrays.get(&format!("output_{index}")).ok_or_else(|| format!("output {index} is missing"))?;
        let sizes = array.shape.iter().map(|size| i32::try_from(*size).unwrap_or(i32::MAX)).collect();
        Ok(OwnedTensor { scalar_type: array.scalar_type, sizes, bytes: array.bytes.clone() })
    };
    (0..arrays.len()).map(output).collect()
}
