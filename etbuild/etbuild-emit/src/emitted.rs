//! What the emitter is told, and what it tells besides the file.

use std::collections::BTreeMap;

use et_core::Dtypes;
use et_format::write::ExecutionPlan;
use etbuild_ir::{Arena, Graph, MemoryPlan};

use crate::ConstantMethod;

/// What goes into a file besides the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmitOptions {
    /// Who made the file: name, version and whatever else identifies it.
    pub producer: String,
    /// Methods that return fixed values, besides those of the program.
    pub constant_methods: Vec<ConstantMethod>,
    /// What the file calls each engine, by the engine's name in the program.
    pub delegates: BTreeMap<String, String>,
    /// Bytes that the program's runner reads, by key.
    pub named_data: BTreeMap<String, Vec<u8>>,
}

/// What is in a program file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// The kernels that the methods call, in the order of the first call.
    pub kernels: Vec<KernelUse>,
    /// The methods that compute something, in the order of their names.
    pub methods: Vec<MethodInfo>,
}

/// A kernel, and the types that it must be compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelUse {
    /// The operator's registered name, such as `aten::relu.out`.
    pub operator: String,
    /// The types that its calls select ([`et_ops::selection`]): index outputs, for one, select nothing.
    pub dtypes: Dtypes,
}

/// What a caller must know of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodInfo {
    /// Its name.
    pub name: String,
    /// The kernels that it calls: one for each of its operators, in order.
    pub kernels: Vec<KernelUse>,
    /// The names of its inputs, in order.
    pub inputs: Vec<String>,
    /// The number of its outputs.
    pub outputs: usize,
    /// The arenas that it must be handed, in order.
    pub arenas: Vec<Arena>,
    /// The number of entries of its value table.
    pub values: usize,
    /// The number of its instructions.
    pub instructions: usize,
}

/// Why no program file was written.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// The file could not be written.
    #[error("the program file cannot be written: {0}")]
    Write(#[from] std::io::Error),
    /// A node calls an operator that the kernel catalogue lacks.
    #[error("the kernel catalogue has no operator `{0}`")]
    OperatorMissing(String),
    /// A node calls an engine that the options do not name.
    #[error("no engine is called `{0}`")]
    EngineMissing(String),
    /// A node has another number of arguments or outputs than its operator's schema.
    #[error("a call of `{0}` does not have the arguments and outputs of its schema")]
    Arity(String),
    /// A node goes to a label that is not there.
    #[error("method `{0}` jumps to where nothing is")]
    Label(String),
    /// A method has no memory plan.
    #[error("method `{0}` has no memory plan")]
    Unplanned(String),
    /// A constant method has the name of another method.
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
