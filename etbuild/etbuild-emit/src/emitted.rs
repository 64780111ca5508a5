//! Options of the emitter, and the description of the emitted file.

use std::collections::BTreeMap;

use et_core::Dtypes;
use et_format::write::ExecutionPlan;
use etbuild_ir::{Arena, Graph, MemoryPlan};

use crate::ConstantMethod;

/// The contents of a file besides the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmitOptions {
    /// The producer stamp: name, version and further identification.
    pub producer: String,
    /// Methods with fixed values, besides the methods of the program.
    pub constant_methods: Vec<ConstantMethod>,
    /// Delegate ids by backend name: `EtbuildCpu` for `cpu`.
    pub delegates: BTreeMap<String, String>,
    /// Named data for the runner of the program, by key.
    pub named_data: BTreeMap<String, Vec<u8>>,
}

/// The description of a program file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// The kernels that the methods call, in order of first call.
    pub kernels: Vec<KernelUse>,
    /// The methods with instructions, in order of names.
    pub methods: Vec<MethodInfo>,
}

/// A kernel with the dtypes that a selective build must keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelUse {
    /// The operator's registered name, such as `aten::relu.out`.
    pub operator: String,
    /// The dtypes that calls select ([`et_ops::selection`]). Index outputs, for example, select no dtype.
    pub dtypes: Dtypes,
}

/// The interface and the size of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodInfo {
    /// The name of the method.
    pub name: String,
    /// The kernels of the method: one for each entry of the operator table, in order.
    pub kernels: Vec<KernelUse>,
    /// The names of the inputs, in order.
    pub inputs: Vec<String>,
    /// The number of outputs.
    pub outputs: usize,
    /// The arenas that the caller must provide, in order.
    pub arenas: Vec<Arena>,
    /// The number of entries of the value table.
    pub values: usize,
    /// The number of instructions.
    pub instructions: usize,
}

/// Errors of the emitter.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// The file could not be written.
    #[error("the program file cannot be written: {0}")]
    Write(#[from] std::io::Error),
    /// A node calls an operator that the kernel catalogue lacks.
    #[error("the kernel catalogue has no operator `{0}`")]
    OperatorMissing(String),
    /// A delegate call of a backend without a delegate id in the options.
    #[error("backend `{0}` has no delegate id")]
    EngineMissing(String),
    /// The number of arguments or outputs of a node differs from the schema of the operator.
    #[error("a call of `{0}` does not match the arguments and outputs of the operator's schema")]
    Arity(String),
    /// A jump to a label that does not exist.
    #[error("method `{0}` jumps to a label that does not exist")]
    Label(String),
    /// A method has no memory plan.
    #[error("method `{0}` has no memory plan")]
    Unplanned(String),
    /// A constant method and another method have the same name.
    #[error("there are two methods `{0}`")]
    MethodTwice(String),
}

impl MethodInfo {
    pub(crate) fn new(graph: &Graph, plan: &MemoryPlan, emitted: &ExecutionPlan<'_>, kernels: Vec<KernelUse>) -> Self {
        Self {
            name: emitted.name.clone(),
            kernels,
            inputs: graph.inputs.iter().map(|id| graph.value(*id).name.clone()).collect(),
            outputs: graph.outputs.len(),
            arenas: plan.arenas.clone(),
            values: emitted.values.len(),
            instructions: emitted.chains.iter().map(|chain| chain.instructions.len()).sum(),
        }
    }
}
