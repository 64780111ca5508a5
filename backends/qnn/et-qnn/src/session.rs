//! A loaded blob.

use et_core::{Access, Args, Error};
use et_problem::{Outcome, Problem};

use crate::api::contexts;
use crate::api::device;
use crate::api::executable::Executable;
use crate::api::tensor::Bound;
use crate::blob::{Binding, Blob, Port, Ports, Role, SizedPort, graph_name};

/// Whether the library simulates the NPU.
const SIMULATES: bool = cfg!(target_arch = "x86_64");

/// A partition of a blob whose context is on the NPU: its graphs, of which a call executes the first that reads the past of the call.
pub struct Session {
    graphs: Vec<(Executable, Ports)>,
}

impl Session {
    /// Loads the context binary of a blob, for the partition of a number. The sessions of a blob at one address share the context.
    ///
    /// # Errors
    /// A malformed blob, no such partition, no NPU, a context for another chip.
    pub fn load(bytes: &[u8], number: usize) -> Outcome<Self> {
        let Blob { soc, shares_weights, graphs, binary } = Blob::read(bytes)?;
        if shares_weights && SIMULATES {
            return Err(Problem::unsupported(
                "the NPU program is for a device, and the simulator cannot load its shared weights",
            ));
        }
        let graphs = graphs.into_iter().enumerate().filter(|(_, ports)| ports.partition as usize == number);
        let graphs: Vec<(usize, Ports)> = graphs.collect();
        if graphs.is_empty() {
            return Err(Problem::blob("the NPU program has no such partition"));
        }
        let mut ports = graphs.iter().flat_map(|(_, ports)| ports.inputs.iter().chain(&ports.outputs));
        if !ports.all(|(port, _)| fits(port)) {
            return Err(Problem::blob("a tensor of the NPU program has another size than its tokens"));
        }
        let context = contexts::restored(device::open(soc)?, binary)?;
        let retrieve = |(graph, ports)| Ok((Executable::retrieve(context.clone(), &graph_name(graph))?, ports));
        Ok(Self { graphs: graphs.into_iter().map(retrieve).collect::<Outcome<_>>()? })
    }

    /// The graph that reads the fewest slots of the KV caches, but all that hold positions before the call.
    fn select(&self, arguments: &Args<'_, '_>) -> Outcome<&(Executable, Ports)> {
        for graph in &self.graphs {
            if reads_past(&graph.1, arguments)? {
                return Ok(graph);
            }
        }
        Err(Problem::blob("no graph of the NPU program reads the KV cache as a whole"))
    }

    /// Executes a graph on tensors, in place. Rows of the KV cache are written after the graph has read it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for tensors of other sizes and for tokens beyond the KV cache, [`Error::AccessFailed`] for an output that
    /// must not be written, and failures of the NPU.
    pub fn execute(&self, arguments: &Args<'_, '_>) -> Outcome<()> {
        let (graph, Ports { inputs: of_inputs, outputs: of_outputs, .. }) = self.select(arguments)?;
        let mut inputs = of_inputs.iter().map(|(port, _)| input(port, arguments)).collect::<Outcome<Vec<_>>>()?;
        let mut outputs = of_outputs.iter().map(|(port, _)| output(port, arguments)).collect::<Outcome<Vec<_>>>()?;
        run(graph, &bound(of_inputs, &mut inputs), &bound(of_outputs, &mut outputs))?;
        of_outputs.iter().zip(&outputs).try_for_each(|((port, _), memory)| match memory {
            Memory::Argument(_) => Ok(()),
            Memory::Own(rows) => port.binding.write_rows(rows, arguments),
        })
    }
}

/// Whether a graph reads all slots of the KV caches that hold positions before the call.
fn reads_past(ports: &Ports, arguments: &Args<'_, '_>) -> Outcome<bool> {
    for (port, _) in &ports.inputs {
        if !port.binding.reads_past(arguments)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The memory of an input or output.
enum Memory {
    /// An argument of the call.
    Argument(*mut u8),
    /// Memory of this call.
    Own(Vec<u8>),
}

/// Whether a port has the size in bytes that its rows and slots need.
fn fits(port: &Port) -> bool {
    let Port { bytes, binding: Binding { role, span, ring, .. }, .. } = *port;
    let [bytes, rows, slots, read] = [bytes, span.rows, ring.slots, ring.read].map(u64::from);
    match role {
        Role::Argument => true,
        Role::Positions => bytes == 4 * rows,
        Role::Last => bytes == 4,
        Role::Past => bytes.checked_rem(read) == Some(0) && read <= slots,
        Role::Mask => (rows * 2).checked_mul(read + rows) == Some(bytes) && slots > 0 && read <= slots,
        Role::Rows => bytes.checked_rem(rows) == Some(0) && slots > 0,
    }
}

fn input(port: &Port, arguments: &Args<'_, '_>) -> Outcome<Memory> {
    if let Some(made) = port.binding.made(arguments)? {
        return Ok(Memory::Own(made));
    }
    match port.binding.role {
        Role::Argument => address(port, u64::from(port.bytes), arguments, Access::Constant).map(Memory::Argument),
        Role::Past => {
            let ring = port.binding.ring;
            let row = u64::from(port.bytes / ring.read.max(1));
            address(port, row * u64::from(ring.slots), arguments, Access::Constant).map(Memory::Argument)
        }
        _ => Err(Problem::blob("an input of the NPU program is an output")),
    }
}

fn output(port: &Port, arguments: &Args<'_, '_>) -> Outcome<Memory> {
    match port.binding.role {
        Role::Argument => address(port, u64::from(port.bytes), arguments, Access::Writable).map(Memory::Argument),
        Role::Rows => Ok(Memory::Own(vec![0; port.bytes as usize])),
        _ => Err(Problem::blob("an output of the NPU program is an input")),
    }
}

/// The tensors of a graph in their memory.
fn bound<'p>(ports: &'p [SizedPort], memory: &mut [Memory]) -> Vec<Bound<'p>> {
    let all = ports.iter().zip(memory);
    all.map(|((Port { id, data_type, bytes, .. }, sizes), memory)| Bound {
        id: *id,
        data_type: *data_type,
        sizes,
        data: match memory {
            Memory::Argument(data) => *data,
            Memory::Own(bytes) => bytes.as_mut_ptr(),
        },
        bytes: *bytes,
    })
    .collect()
}

#[allow(unsafe_code)]
fn run(graph: &Executable, inputs: &[Bound<'_>], outputs: &[Bound<'_>]) -> Outcome<()> {
    // SAFETY: the memory is that of tensors, or of vectors, that live for the call and have the stated sizes; outputs are writable. The
    // memory plan gives inputs and outputs of a delegate call disjoint memory, apart from KV caches, whose rows are written to a vector.
    unsafe { graph.execute(inputs, outputs) }
}

/// The memory of an argument that has a number of bytes, of which the graph reads or writes the first ones.
fn address(port: &Port, wants: u64, arguments: &Args<'_, '_>, access: Access) -> Outcome<*mut u8> {
    let position = port.binding.argument as usize;
    let tensor = arguments.tensor(position)?;
    if tensor.nbytes() as u64 != wants {
        let has = tensor.nbytes();
        let sentence = format!("argument {position} of the NPU program has {has} bytes instead of {wants}");
        return Err(Problem::new(Error::InvalidArgument, sentence));
    }
    if access != Access::Constant && tensor.access() == Access::Constant {
        return Err(Problem::new(Error::AccessFailed, "an output of the NPU program is a constant"));
    }
    Ok(tensor.data())
}
