//! Graphs become a context binary by the vendor's compiler.

use et_qnn::build::{Context, Created, DataType, Graph, Kind, OperationSpec, Quantization, TensorSpec, open};
use et_qnn::{Binding, Blob, Outcome, Port, Ports, Problem, graph_name};

use serde::{Deserialize, Serialize};

use crate::partition::Partition;
use crate::program::{Operation, Parameter, Program, Tensor, TensorId, width};

/// The device that executes a context binary.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Device {
    /// The chip, by the vendor's number.
    pub soc: u32,
    /// Whether its library can load graphs that share weights: the simulator cannot.
    pub shares_weights: bool,
}

/// The blob of graphs for a device.
///
/// # Errors
/// No library, a partition that cannot be read, or a graph that its compiler refuses.
pub fn compile(
    partitions: impl Iterator<Item = Outcome<Partition>>,
    Device { soc, shares_weights }: Device,
) -> Outcome<Vec<u8>> {
    let context = Context::create(open(soc)?, shares_weights)?;
    let mut graphs = Vec::new();
    for (number, partition) in partitions.enumerate() {
        let partition = partition?;
        for program in partition.graphs() {
            let name = graph_name(graphs.len());
            graphs.push(Ports { partition: number as u32, ..compiled(&context, &partition, program, &name)? });
        }
    }
    let binary = context.binary()?;
    Ok(Blob { soc, shares_weights, graphs, binary: &binary }.write())
}

/// Whether the library has all operations of the graphs of a partition.
///
/// # Errors
/// As of [`compile`], apart from a graph that is refused as a whole.
pub fn check(partition: &Partition, device: Device) -> Outcome<()> {
    partition.graphs().iter().try_for_each(|program| {
        // A context of its own frees the constants of the graph before the next.
        let context = Context::create(open(device.soc)?, false)?;
        constructed(&context, partition, program, &graph_name(0)).map(|_| ())
    })
}

/// Adds the compiled graph of a program to a context.
fn compiled(context: &Context, partition: &Partition, program: &Program, name: &str) -> Outcome<Ports> {
    let (mut graph, created) = constructed(context, partition, program, name)?;
    graph.finalize()?;
    let port = |(id, binding): &(TensorId, Binding)| {
        let (port, sizes) = port(&graph, program.get(*id), of(&created, *id)?)?;
        Ok((Port { binding: *binding, ..port }, sizes))
    };
    let inputs = program.inputs.iter().map(port).collect::<Outcome<Vec<_>>>()?;
    let outputs = program.outputs.iter().map(port).collect::<Outcome<Vec<_>>>()?;
    Ok(Ports { inputs, outputs, ..Ports::default() })
}

/// A graph with the tensors and operations of a program.
fn constructed<'c>(
    context: &'c Context,
    partition: &Partition,
    program: &Program,
    name: &str,
) -> Outcome<(Graph<'c>, Vec<Option<Created>>)> {
    let mut graph = Graph::create(context, name)?;
    let created = tensors(&mut graph, partition, program)?;
    for (position, operation) in program.operations.iter().enumerate() {
        add(&mut graph, program, &created, operation, position)?;
    }
    Ok((graph, created))
}

/// Creates all tensors: first the inputs and outputs of the graph, in order.
fn tensors(graph: &mut Graph<'_>, partition: &Partition, program: &Program) -> Outcome<Vec<Option<Created>>> {
    let mut created = vec![None; program.tensors.len()];
    let rest = (0..program.tensors.len()).map(TensorId);
    let order: Vec<TensorId> = program.inputs.iter().chain(&program.outputs).map(|(id, _)| *id).chain(rest).collect();
    for id in order {
        if created[id.0].is_none() {
            let Tensor { name, kind, data_type, quantization, sizes, .. } = program.get(id);
            // Names are unique by the number.
            let name = format!("{name}.{}", id.0);
            let (kind, data_type, data) = (*kind, *data_type, partition.data(program, id));
            created[id.0] =
                Some(graph.tensor(TensorSpec { name: &name, kind, data_type, quantization, sizes, data })?);
        }
    }
    Ok(created)
}

fn of(created: &[Option<Created>], id: TensorId) -> Outcome<Created> {
    created.get(id.0).copied().flatten().ok_or_else(|| Problem::blob("an operation has a tensor that was not created"))
}

fn add(
    graph: &mut Graph<'_>,
    program: &Program,
    created: &[Option<Created>],
    operation: &Operation,
    position: usize,
) -> Outcome<()> {
    let Operation { type_name, parameters, inputs, output } = operation;
    let name = format!("{}.op{position}", program.get(*output).name);
    let mut values = Vec::new();
    for (key, parameter) in parameters {
        values.push((key.as_str(), value(graph, &format!("{name}.{key}"), parameter)?));
    }
    let inputs = inputs.iter().map(|id| of(created, *id)).collect::<Outcome<Vec<_>>>()?;
    let outputs = [of(created, *output)?];
    graph.add(OperationSpec { name: &name, type_name, parameters: &values, inputs: &inputs, outputs: &outputs })
}

fn value(graph: &mut Graph<'_>, name: &str, parameter: &Parameter) -> Outcome<et_qnn::build::Parameter> {
    let mut tensor = |data_type, sizes: &[u32], data: &[u8]| {
        let spec = TensorSpec { name, kind: Kind::Static, data_type, quantization: &Quantization::None, sizes, data };
        graph.tensor(spec).map(et_qnn::build::Parameter::Tensor)
    };
    match parameter {
        Parameter::Uint32(number) => Ok(et_qnn::build::Parameter::Uint32(*number)),
        Parameter::Int32(number) => Ok(et_qnn::build::Parameter::Int32(*number)),
        Parameter::Float32(number) => Ok(et_qnn::build::Parameter::Float32(*number)),
        Parameter::Bool(flag) => Ok(et_qnn::build::Parameter::Bool(*flag)),
        Parameter::Integers(sizes, numbers) => {
            let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            tensor(DataType::Uint32, sizes, &data)
        }
        Parameter::Signed(sizes, numbers) => {
            let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            tensor(DataType::Int32, sizes, &data)
        }
    }
}

fn port(graph: &Graph<'_>, tensor: &Tensor, created: Created) -> Outcome<(Port, Vec<u32>)> {
    let id = graph.id(created).ok_or_else(|| Problem::blob("a tensor of the call has no number"))?;
    let elements: u32 = tensor.sizes.iter().product();
    let bytes = elements * width(tensor.data_type) as u32;
    let port =
        Port { id, data_type: tensor.data_type as u32, rank: tensor.sizes.len() as u32, bytes, ..Port::default() };
    Ok((port, tensor.sizes.clone()))
}
