//! Graphs under construction: tensors and operations, then the compiler.

use core::ffi::CStr;
use core::ptr::{null, null_mut};
use std::ffi::CString;

use et_problem::{Outcome, Problem};

use super::abi::{self, Handle, function, signature};
use super::context::Context;
use super::library::check;
use super::tensor::{DataType, Owned, TensorSpec, text};

/// The package of all operations.
const PACKAGE: &CStr = c"qti.aisw";

/// A parameter of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// A number.
    Uint32(u32),
    /// A number.
    Int32(i32),
    /// A number.
    Float32(f32),
    /// A flag.
    Bool(bool),
    /// A constant tensor.
    Tensor(Created),
}

/// An operation to add.
#[derive(Clone, Copy, Debug)]
pub struct OperationSpec<'a> {
    /// A name that is unique in the graph.
    pub name: &'a str,
    /// The type, such as `Conv2d`.
    pub type_name: &'a str,
    /// The parameters by name.
    pub parameters: &'a [(&'a str, Parameter)],
    /// The inputs.
    pub inputs: &'a [Created],
    /// The outputs.
    pub outputs: &'a [Created],
}

/// The position of a tensor among the tensors of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Created(usize);

/// A graph of a context.
pub struct Graph<'c> {
    context: &'c Context,
    handle: Handle,
    tensors: Vec<abi::Tensor>,
    /// What the tensors point to.
    owned: Vec<Owned>,
}

impl<'c> Graph<'c> {
    /// An empty graph.
    ///
    /// # Errors
    /// The library's.
    pub fn create(context: &'c Context, name: &str) -> Outcome<Self> {
        let name = text(name)?;
        let create: signature::GraphCreate = context.device.library.function(function::GRAPH_CREATE)?;
        let mut handle = null_mut();
        // SAFETY: the context is open, the name outlives the call, there are no options; the function writes a handle.
        check(unsafe { create(context.handle, name.as_ptr(), null(), &mut handle) }, "create a graph")?;
        Ok(Self { context, handle, tensors: Vec::new(), owned: Vec::new() })
    }

    /// Creates a tensor.
    ///
    /// # Errors
    /// A tensor that the NPU cannot hold.
    pub fn tensor(&mut self, spec: TensorSpec<'_>) -> Outcome<Created> {
        let owned = Owned::of(spec)?;
        let mut tensor = owned.tensor(spec.kind, spec.data_type)?;
        let create: signature::TensorCreate = self.context.device.library.function(function::TENSOR_CREATE)?;
        // SAFETY: the graph is open, and what the tensor points to lives in `owned` until the graph ends; the function writes the
        // number of the tensor.
        let status = unsafe { create(self.handle, &mut tensor) };
        check(status, &format!("create the tensor `{}`", spec.name))?;
        self.tensors.push(tensor);
        self.owned.push(owned);
        Ok(Created(self.tensors.len() - 1))
    }

    /// The number of a tensor in context binaries.
    pub fn id(&self, tensor: Created) -> Option<u32> {
        self.tensors.get(tensor.0).map(|tensor| tensor.id)
    }

    /// Adds an operation.
    ///
    /// # Errors
    /// An operation that the NPU lacks for these tensors.
    pub fn add(&mut self, spec: OperationSpec<'_>) -> Outcome<()> {
        let (name, type_name) = (text(spec.name)?, text(spec.type_name)?);
        let names: Vec<CString> = spec.parameters.iter().map(|(name, _)| text(name)).collect::<Outcome<_>>()?;
        let parameters = names.iter().zip(spec.parameters);
        let parameters = parameters.map(|(name, (_, parameter))| self.parameter(name, parameter));
        let parameters: Vec<abi::Parameter> = parameters.collect::<Outcome<_>>()?;
        let (inputs, outputs) = (self.all(spec.inputs)?, self.all(spec.outputs)?);
        let operation = abi::Operation {
            version: 1,
            name: name.as_ptr(),
            package: PACKAGE.as_ptr(),
            type_name: type_name.as_ptr(),
            parameter_count: parameters.len() as u32,
            parameters: parameters.as_ptr(),
            input_count: inputs.len() as u32,
            inputs: inputs.as_ptr(),
            output_count: outputs.len() as u32,
            outputs: outputs.as_ptr(),
        };
        let Context { device, .. } = self.context;
        let validate: signature::Validate = device.library.function(function::VALIDATE_OPERATION)?;
        // SAFETY: the backend is open, and what the operation points to outlives the call.
        let status = unsafe { validate(device.backend, operation) };
        check(status, &format!("take the operation `{}` ({})", spec.name, spec.type_name))?;
        let add: signature::GraphAdd = device.library.function(function::GRAPH_ADD)?;
        // SAFETY: the graph is open, and what the operation points to outlives the call.
        let status = unsafe { add(self.handle, operation) };
        check(status, &format!("add the operation `{}` ({})", spec.name, spec.type_name))
    }

    /// Compiles the graph for the chip.
    ///
    /// # Errors
    /// The compiler's.
    pub fn finalize(&mut self) -> Outcome<()> {
        let finalize: signature::Finalize = self.context.device.library.function(function::GRAPH_FINALIZE)?;
        // SAFETY: the graph is open; there is neither a profile nor a signal.
        check(unsafe { finalize(self.handle, null_mut(), null_mut()) }, "compile the graph")
    }

    fn all(&self, tensors: &[Created]) -> Outcome<Vec<abi::Tensor>> {
        let found: Option<Vec<abi::Tensor>> =
            tensors.iter().map(|tensor| self.tensors.get(tensor.0).copied()).collect();
        found.ok_or_else(|| Problem::blob("an operation has a tensor of another graph"))
    }

    fn parameter(&self, name: &CStr, parameter: &Parameter) -> Outcome<abi::Parameter> {
        let scalar = |data_type: u32, bits: u32| {
            let scalar = abi::Scalar { data_type, bits: u64::from(bits) };
            abi::Parameter { kind: 0, name: name.as_ptr(), value: abi::ParameterValue { scalar } }
        };
        Ok(match parameter {
            Parameter::Uint32(number) => scalar(DataType::Uint32 as u32, *number),
            Parameter::Int32(number) => scalar(DataType::Int32 as u32, number.cast_unsigned()),
            Parameter::Float32(number) => scalar(DataType::Float32 as u32, number.to_bits()),
            Parameter::Bool(flag) => scalar(DataType::Bool as u32, u32::from(*flag)),
            Parameter::Tensor(tensor) => {
                let [tensor] = self.all(&[*tensor])?[..] else {
                    return Err(Problem::blob("a parameter has no tensor"));
                };
                abi::Parameter { kind: 1, name: name.as_ptr(), value: abi::ParameterValue { tensor } }
            }
        })
    }
}
