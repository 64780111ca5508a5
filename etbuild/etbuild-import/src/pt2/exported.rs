//! The graph of an archive as `torch.export` captured it, for tools that read ExecuTorch's own serialization.

use etbuild_ir::{ConstantData, TensorSpec};

use super::model::{Argument, InputSpec, Model, Named, Node};
use super::spec::Layout;
use super::weights::Weights;
use super::{Bytes, archive, bound, earlier_schema, model};
use crate::ImportError;

/// The graph that `torch.export` captured.
#[derive(Clone, Debug)]
pub struct ExportedGraph {
    /// The nodes in order. The debug handle of a node is the position, counted from 1.
    pub nodes: Vec<ExportedNode>,
    /// The tensors that the user gives, in order.
    pub inputs: Vec<ExportedInput>,
    /// Parameters, buffers and constants.
    pub weights: Vec<ExportedWeight>,
    /// The program in the JSON of ExecuTorch's `exir.serde`, with debug handles.
    pub serialized: String,
}

/// A call of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedNode {
    /// The operator, such as `torch.ops.aten.relu.default`.
    pub target: String,
    /// The values that the node computes.
    pub results: Vec<String>,
    /// The values that the node reads.
    pub reads: Vec<String>,
    /// Type and shape of the first result; `None` for a result that is no tensor.
    pub spec: Option<TensorSpec>,
}

/// An input.
#[derive(Clone, Debug)]
pub struct ExportedInput {
    /// The name.
    pub name: String,
    /// Type and largest shape.
    pub spec: TensorSpec,
}

/// The role of a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightRole {
    /// A parameter.
    Parameter,
    /// A buffer in the state dict.
    Buffer,
    /// A constant, or a buffer outside the state dict.
    Constant,
}

/// A parameter, a buffer or a constant.
#[derive(Clone, Debug)]
pub struct ExportedWeight {
    /// The qualified name, such as `conv1.weight`.
    pub name: String,
    /// The role.
    pub role: WeightRole,
    /// Type and shape.
    pub spec: TensorSpec,
    /// The elements, row-major.
    pub data: ConstantData,
}

/// Reads the graph of an archive.
///
/// # Errors
/// Bytes that are no archive, weights that cannot be read, and arguments that the earlier schema of ExecuTorch lacks.
pub fn exported_graph(bytes: Bytes) -> Result<ExportedGraph, ImportError> {
    let archive = archive::Archive::open(bytes)?;
    let model = model::read(&archive)?;
    Ok(ExportedGraph {
        nodes: nodes(&model),
        inputs: inputs(&model)?,
        weights: weights(&archive, &model)?,
        serialized: earlier_schema::program(archive.member(model::MODEL)?)?,
    })
}

fn nodes(model: &Model) -> Vec<ExportedNode> {
    let (graph, symbols) = (&model.graph_module.graph, bound::symbols(model));
    let spec = |name: &String| Some(Layout::read(name, graph.tensor_values.get(name)?, &symbols).ok()?.spec);
    let node = |node: &Node| {
        let results: Vec<String> = node.outputs.iter().flat_map(names).collect();
        let reads = node.inputs.iter().flat_map(|input| names(&input.arg)).collect();
        ExportedNode { target: node.target.clone(), spec: results.first().and_then(spec), results, reads }
    };
    graph.nodes.iter().map(node).collect()
}

fn names(argument: &Argument) -> impl Iterator<Item = String> {
    argument.names().chain(argument.number()).map(str::to_owned)
}

fn inputs(model: &Model) -> Result<Vec<ExportedInput>, ImportError> {
    let symbols = bound::symbols(model);
    let tensor = |spec: &'_ InputSpec| match spec {
        InputSpec::UserInput { arg: Argument::AsTensor(Named { name }) } => Some(name.clone()),
        _ => None,
    };
    let named = model.graph_module.signature.input_specs.iter().filter_map(tensor);
    let input = |name: String| {
        let meta = model.graph_module.graph.tensor_values.get(&name);
        let meta = meta.ok_or_else(|| ImportError::Shape(name.clone()))?;
        Ok(ExportedInput { spec: Layout::read(&name, meta, &symbols)?.spec, name })
    };
    named.map(input).collect()
}

fn weights(archive: &archive::Archive, model: &Model) -> Result<Vec<ExportedWeight>, ImportError> {
    let symbols = bound::symbols(model);
    let mut weights = Weights::open(archive)?;
    let specs = model.graph_module.signature.input_specs.iter();
    let named = specs.filter_map(|spec| Some((spec.weight()?.1, role(spec))));
    let weight = |(name, role): (&str, WeightRole)| {
        let (spec, data) = weights.load(name, &symbols)?;
        Ok(ExportedWeight { name: name.to_owned(), role, spec, data })
    };
    named.map(weight).collect()
}

const fn role(spec: &InputSpec) -> WeightRole {
    match spec {
        InputSpec::Parameter { .. } => WeightRole::Parameter,
        InputSpec::Buffer { persistent: true, .. } => WeightRole::Buffer,
        _ => WeightRole::Constant,
    }
}
