//! A loaded blob.

use et_core::{Access, Args, Error};

use crate::api::context::Context;
use crate::api::device;
use crate::api::executable::Executable;
use crate::api::tensor::Bound;
use crate::blob::{Blob, GRAPH, Port};
use et_problem::{Outcome, Problem};

/// A blob whose context is on the NPU.
pub struct Session {
    graph: Executable,
    inputs: Vec<(Port, Vec<u32>)>,
    outputs: Vec<(Port, Vec<u32>)>,
}

impl Session {
    /// Loads the context binary of a blob.
    ///
    /// # Errors
    /// A malformed blob, no NPU, a context for another chip.
    pub fn load(bytes: &[u8]) -> Outcome<Self> {
        let Blob { soc, inputs, outputs, binary } = Blob::read(bytes)?;
        let context = Context::restore(device::open(soc)?, binary)?;
        Ok(Self { graph: Executable::retrieve(context, GRAPH)?, inputs, outputs })
    }

    /// Executes the blob on tensors, in place.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for tensors of other sizes, [`Error::AccessFailed`] for an output that must not be written,
    /// and failures of the NPU.
    pub fn execute(&self, arguments: &Args<'_, '_>) -> Outcome<()> {
        let bind = |ports: &'_ [(Port, Vec<u32>)], first: usize, access| {
            let numbered = ports.iter().zip(first..);
            numbered
                .map(|((port, _), position)| address(port, arguments, position, access))
                .collect::<Outcome<Vec<_>>>()
        };
        let inputs = bind(&self.inputs, 0, Access::Constant)?;
        let outputs = bind(&self.outputs, self.inputs.len(), Access::Writable)?;
        run(&self.graph, &bound(&self.inputs, inputs), &bound(&self.outputs, outputs))
    }
}

/// The tensors of a graph in the memory of the caller.
fn bound(ports: &[(Port, Vec<u32>)], addresses: Vec<*mut u8>) -> Vec<Bound<'_>> {
    let all = ports.iter().zip(addresses);
    all.map(|((Port { id, data_type, bytes, .. }, sizes), data)| Bound {
        id: *id,
        data_type: *data_type,
        sizes,
        data,
        bytes: *bytes,
    })
    .collect()
}

#[allow(unsafe_code)]
fn run(graph: &Executable, inputs: &[Bound<'_>], outputs: &[Bound<'_>]) -> Outcome<()> {
    // SAFETY: the memory is that of tensors that live for the call and have the stated sizes; outputs are writable. The memory plan
    // gives inputs and outputs of a delegate call disjoint memory.
    unsafe { graph.execute(inputs, outputs) }
}

/// The memory of an argument that has the size of a tensor of the graph.
fn address(port: &Port, arguments: &Args<'_, '_>, position: usize, access: Access) -> Outcome<*mut u8> {
    let tensor = arguments.tensor(position)?;
    if tensor.nbytes() != port.bytes as usize {
        let (has, wants) = (tensor.nbytes(), port.bytes);
        let sentence = format!("argument {position} of the NPU program has {has} bytes instead of {wants}");
        return Err(Problem::new(Error::InvalidArgument, sentence));
    }
    if access != Access::Constant && tensor.access() == Access::Constant {
        return Err(Problem::new(Error::AccessFailed, "an output of the NPU program is a constant"));
    }
    Ok(tensor.data())
}
