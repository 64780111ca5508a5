//! A delegate call: the tensors of the call are the inputs and outputs of a graph, as on a device.

use std::sync::Arc;

use et_core::{Args, Error, Input};
use et_qnn::build::Kind;
use et_qnn::{Binding, Outcome, Problem, Role};

use crate::partition::Partition;
use crate::program::{Program, TensorId, width};

use super::compute;
use super::step::Elements;

/// A partition whose constants are in memory.
pub struct Simulated {
    partition: Partition,
    /// The constants of each graph, by the number of the tensor.
    constants: Vec<Vec<Option<Arc<Elements>>>>,
}

impl Simulated {
    /// Reads the constants of a partition.
    ///
    /// # Errors
    /// A constant of another size.
    pub fn of(partition: Partition) -> Outcome<Self> {
        let of_graph = |program: &Program| {
            let ids = (0..program.tensors.len()).map(TensorId);
            let elements = ids.map(|id| match program.get(id).kind {
                Kind::Static => Elements::of_bytes(program.get(id), partition.data(program, id))
                    .map(|elements| Some(Arc::new(elements))),
                _ => Ok(None),
            });
            elements.collect::<Result<_, _>>()
        };
        let constants = partition.graphs().iter().map(of_graph).collect::<Result<_, _>>();
        let constants = constants.map_err(|refusal| Problem::blob(refusal.reason))?;
        Ok(Self { partition, constants })
    }

    /// Executes the graph that reads the fewest slots of the KV caches, but all that hold positions before the call.
    ///
    /// # Errors
    /// Tensors of other sizes, tokens beyond the KV cache, an operation that the simulation lacks.
    pub fn execute(&self, arguments: &Args<'_, '_>) -> Outcome<()> {
        for (program, constants) in self.partition.graphs().iter().zip(&self.constants) {
            if reads_past(program, arguments)? {
                return execute(program, constants.clone(), arguments);
            }
        }
        Err(Problem::blob("no graph reads the KV cache as a whole"))
    }
}

/// Whether a graph reads all slots of the KV caches that hold positions before the call.
fn reads_past(program: &Program, arguments: &Args<'_, '_>) -> Outcome<bool> {
    for (_, binding) in &program.inputs {
        if !binding.reads_past(arguments)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn execute(program: &Program, mut memory: Vec<Option<Arc<Elements>>>, arguments: &Args<'_, '_>) -> Outcome<()> {
    let failed = |refusal: etbuild_backend::Refusal| Problem::unsupported(refusal.reason);
    for (id, binding) in &program.inputs {
        let bytes = input(program, *id, *binding, arguments)?;
        memory[id.0] = Some(Arc::new(Elements::of_bytes(program.get(*id), &bytes).map_err(failed)?));
    }
    compute(program, &mut memory).map_err(failed)?;
    for (id, binding) in &program.outputs {
        let elements = memory[id.0].as_ref().ok_or_else(|| Problem::blob("no operation computes an output"))?;
        keep(*binding, &elements.bytes(program.get(*id).data_type), arguments)?;
    }
    Ok(())
}

/// The bytes of an input of a graph.
fn input(program: &Program, id: TensorId, binding: Binding, arguments: &Args<'_, '_>) -> Outcome<Vec<u8>> {
    if let Some(made) = binding.made(arguments)? {
        return Ok(made);
    }
    match binding.role {
        Role::Argument | Role::Past => {
            let tensor = program.get(id);
            let count = tensor.dims().into_iter().product::<usize>() * width(tensor.data_type);
            let bytes = arguments.tensor(binding.argument as usize)?.bytes()?;
            if bytes.len() < count {
                return Err(Error::InvalidArgument.into());
            }
            Ok((0..count).map(|place| bytes.get(place)).collect())
        }
        _ => Err(Problem::blob("an input of the graph is an output")),
    }
}

/// Writes an output of a graph to the tensor of the call.
fn keep(binding: Binding, bytes: &[u8], arguments: &Args<'_, '_>) -> Outcome<()> {
    if binding.role == Role::Rows {
        return binding.write_rows(bytes, arguments);
    }
    let to = arguments.tensor(binding.argument as usize)?.bytes_mut()?;
    if to.len() != bytes.len() {
        return Err(Error::InvalidArgument.into());
    }
    to.copy_from(Input::of(bytes));
    Ok(())
}
