//! A program as plain data. Names and meanings follow the schema; large byte arrays are borrowed.

use et_core::ScalarType;

/// A program file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program<'a> {
    /// The methods.
    pub execution_plans: Vec<ExecutionPlan<'a>>,
    /// Constants; a tensor refers to item `i` as data buffer `i + 1`.
    pub constants: Vec<&'a [u8]>,
    /// Initial values of mutable buffers; a tensor with an allocation refers to item `i` as data buffer `i + 1`.
    pub initial_values: Vec<&'a [u8]>,
    /// Bytes with names, which must differ.
    pub named_data: Vec<NamedData<'a>>,
}

/// Bytes with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedData<'a> {
    /// The name.
    pub key: String,
    /// The bytes; the same bytes under several names are stored once.
    pub data: &'a [u8],
    /// The alignment in bytes: a power of two.
    pub alignment: u64,
}

/// A method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecutionPlan<'a> {
    /// The method's name, such as `forward`.
    pub name: String,
    /// How Python saw inputs and outputs.
    pub container: ContainerMetadata,
    /// The value table. A tensor precedes every list that refers to the tensor.
    pub values: Vec<EValue>,
    /// The values that are inputs.
    pub inputs: Vec<i32>,
    /// The values that are outputs.
    pub outputs: Vec<i32>,
    /// The instructions; upstream's loader requires at least one chain.
    pub chains: Vec<Chain>,
    /// The operators that instructions refer to.
    pub operators: Vec<Operator>,
    /// The delegates that instructions refer to.
    pub delegates: Vec<BackendDelegate<'a>>,
    /// Bytes per arena; item `i` belongs to memory id `i + 1`.
    pub arena_sizes: Vec<i64>,
}

/// The pytrees of inputs and outputs as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerMetadata {
    /// The inputs' pytree.
    pub inputs: String,
    /// The outputs' pytree.
    pub outputs: String,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum EValue {
    /// An absent value.
    Null,
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// A floating-point number.
    Double(f64),
    /// A tensor.
    Tensor(Tensor),
    /// Text.
    String(String),
    /// Indices of integers in the value table.
    IntList(Vec<i64>),
    /// Floating-point numbers.
    DoubleList(Vec<f64>),
    /// Booleans.
    BoolList(Vec<bool>),
    /// Indices of tensors in the value table.
    TensorList(Vec<i32>),
    /// Indices of tensors in the value table, -1 for an absent tensor.
    OptionalTensorList(Vec<i32>),
}

/// A tensor. Data buffer only: a constant; allocation only: planned memory; both: a mutable buffer with an initial
/// value; neither: memory of the caller. Planned memory with a name is a mutable buffer too: our runtime initializes
/// the buffer with zeros, ExecuTorch's runtime leaves the buffer uninitialized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The size of each dimension; upper bounds when dynamic.
    pub sizes: Vec<i32>,
    /// The dimensions in memory order.
    pub dim_order: Vec<u8>,
    /// The index of the constant or initial value, counted from 1; 0 for a tensor without data in the file.
    pub data_buffer: u32,
    /// A place in an arena.
    pub allocation: Option<Allocation>,
    /// Whether the shape can change within its bounds.
    pub dynamic: bool,
    /// The fields of external, mutable or device tensors.
    pub extra: Option<ExtraTensorInfo>,
}

/// A place in an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The arena, counted from 1.
    pub memory_id: u32,
    /// Bytes from the arena's start.
    pub offset: u64,
}

/// The fields of external, mutable or device tensors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtraTensorInfo {
    /// The name in the model.
    pub fully_qualified_name: String,
    /// Whether the data is in another file, under that name.
    pub external: bool,
}

/// A straight run of instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The instructions.
    pub instructions: Vec<Instruction>,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// Calls an operator's kernel.
    KernelCall {
        /// The operator.
        operator: i32,
        /// The indices of the arguments.
        arguments: Vec<i32>,
    },
    /// Calls a delegate.
    DelegateCall {
        /// The delegate.
        delegate: i32,
        /// The indices of the arguments: inputs, then outputs.
        arguments: Vec<i32>,
    },
    /// Copies a value.
    MoveCall {
        /// The value that is copied.
        from: i32,
        /// The value that is replaced.
        to: i32,
    },
    /// Continues elsewhere when a boolean is false.
    JumpFalseCall {
        /// The boolean.
        condition: i32,
        /// The instruction to continue at.
        destination: i32,
    },
    /// Takes the memory from a tensor.
    FreeCall {
        /// The tensor.
        value: i32,
    },
}

/// The name of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// The name with its namespace, such as `aten::add`.
    pub name: String,
    /// The overload, such as `out`; empty for the default overload.
    pub overload: String,
}

/// A partition of the method that a delegate executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendDelegate<'a> {
    /// The backend's name.
    pub id: String,
    /// The blob; equal blobs are stored once.
    pub blob: &'a [u8],
    /// The options that the blob was compiled with.
    pub compile_specs: Vec<CompileSpec>,
}

/// An option that a backend was compiled with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileSpec {
    /// The option's name.
    pub key: String,
    /// The option's value.
    pub value: Vec<u8>,
}
