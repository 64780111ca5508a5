//! A delegate call: the tensors of the call are the inputs and outputs of a graph, as on a device.

use std::sync::Arc;

use et_core::{Args, Error, Input};
use et_qnn::build::Kind;
use et_qnn::{Binding, Outcome, Problem, Role, Tokens, last_row};

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
    for (_, Binding { role, span, ring, .. }) in &program.inputs {
        if *role == Role::Mask && !Tokens::read(*span, arguments)?.reads_past(*ring) {
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
    let Binding { role, argument, span, ring } = binding;
    let tokens = || Tokens::read(span, arguments);
    match role {
        Role::Argument | Role::Past => {
            let tensor = program.get(id);
            let count = tensor.sizes.iter().map(|size| *size as usize).product::<usize>() * width(tensor.data_type);
            let bytes = arguments.tensor(argument as usize)?.bytes()?;
            if bytes.len() < count {
                return Err(Error::InvalidArgument.into());
            }
            Ok((0..count).map(|place| bytes.get(place)).collect())
        }
        Role::Positions => tokens()?.positions(ring),
        Role::Last => Ok((last_row(span, arguments)? as i32).to_le_bytes().to_vec()),
        Role::Mask => tokens()?.mask(ring),
        Role::Rows => Err(Problem::blob("an input of the graph is an output")),
    }
}

/// Writes an output of a graph to the tensor of the call.
fn keep(Binding { role, argument, span, ring }: Binding, bytes: &[u8], arguments: &Args<'_, '_>) -> Outcome<()> {
    let to = arguments.tensor(argument as usize)?.bytes_mut()?;
    match role {
        Role::Rows => Tokens::read(span, arguments)?.write(ring, bytes, to),
        _ if to.len() == bytes.len() => {
            to.copy_from(Input::of(bytes));
            Ok(())
        }
        _ => Err(Error::InvalidArgument.into()),
    }
}
