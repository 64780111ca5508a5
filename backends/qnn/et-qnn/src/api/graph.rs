//! Graphs: built from tensors and operations, then finalized; or retrieved from a context binary, then executed.

use core::ffi::{CStr, c_void};
use core::ptr::{null, null_mut};
use std::ffi::CString;

use crate::problem::{Outcome, Problem};

use super::abi::{self, Handle, QuantizeParams, ScaleOffset, function, signature};
use super::context::Context;
use super::library::check;

/// The package of all operations.
const PACKAGE: &CStr = c"qti.aisw";

/// The type of elements, with the library's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u32)]
pub enum DataType {
    /// Integers, such as indices.
    Int32 = 0x032,
    /// Sizes and strides.
    Uint32 = 0x132,
    /// fp16.
    Float16 = 0x216,
    /// fp32.
    Float32 = 0x232,
    /// Quantized, signed, 8 bits.
    Int8 = 0x308,
    /// Quantized, signed, 16 bits.
    Int16 = 0x316,
    /// Quantized, signed, 32 bits: biases.
    Fixed32 = 0x332,
    /// Quantized, unsigned, 8 bits.
    Uint8 = 0x408,
    /// Quantized, unsigned, 16 bits.
    Uint16 = 0x416,
    /// A byte that is 0 or 1.
    Bool = 0x508,
}

/// The memory of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u32)]
pub enum Kind {
    /// The caller writes the tensor.
    Input = abi::TENSOR_INPUT,
    /// The caller reads the tensor.
    Output = abi::TENSOR_OUTPUT,
    /// The tensor is within the graph.
    Native = abi::TENSOR_NATIVE,
    /// The tensor is constant.
    Static = abi::TENSOR_STATIC,
}

/// How integers of a tensor represent real numbers.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Quantization {
    /// The elements are numbers themselves.
    #[default]
    None,
    /// One scale.
    Tensor(ScaleOffset),
    /// A scale per index of an axis.
    Axis {
        /// The axis.
        axis: u32,
        /// The scales.
        scales: Vec<ScaleOffset>,
    },
    /// A scale per index of an axis, of integers with fewer bits than their type.
    NarrowAxis {
        /// The bits.
        bits: u32,
        /// The axis.
        axis: u32,
        /// The scales.
        scales: Vec<f32>,
    },
    /// Blocks of the other axis have scales that are multiples, 1 to 15, of a scale per index of an axis. `multiples` are ordered by index, then
    /// by block.
    Blocks {
        /// The axis.
        axis: u32,
        /// The scales.
        scales: Vec<ScaleOffset>,
        /// The multiples.
        multiples: Vec<u8>,
    },
}

/// A tensor to create.
#[derive(Clone, Copy, Debug)]
pub struct TensorSpec<'a> {
    /// A name that is unique in the graph.
    pub name: &'a str,
    /// The memory.
    pub kind: Kind,
    /// The type of elements.
    pub data_type: DataType,
    /// The quantization.
    pub quantization: &'a Quantization,
    /// The sizes.
    pub sizes: &'a [u32],
    /// The elements of a constant, else empty.
    pub data: &'a [u8],
}

/// A parameter of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// A number.
    Uint32(u32),
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

/// A tensor of a graph: its position among the created ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Created(usize);

/// An input or output of an execution: number, type and sizes of the tensor, and memory of the caller.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    /// The number of the tensor, from [`Graph::id`].
    pub id: u32,
    /// The type of elements.
    pub data_type: u32,
    /// The sizes.
    pub sizes: &'a [u32],
    /// The elements. Outputs are written, inputs are only read.
    pub data: *mut u8,
    /// The bytes of the elements.
    pub bytes: u32,
}

/// A graph of a context.
pub struct Graph<'c> {
    context: &'c Context,
    handle: Handle,
    tensors: Vec<abi::Tensor>,
    /// What the tensors point to.
    owned: Vec<Owned>,
}

/// Memory that a tensor points to; a vector keeps its address when it moves.
struct Owned {
    name: CString,
    sizes: Vec<u32>,
    quantization: Quantization,
    block: Option<Box<abi::BlockEncoding>>,
    data: Vec<u8>,
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

    /// A finalized graph of the context's binary.
    ///
    /// # Errors
    /// No graph of this name.
    pub fn retrieve(context: &'c Context, name: &str) -> Outcome<Self> {
        let (context, handle) = (context, find(context, name)?);
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

/// Executes a finalized graph of a context.
///
/// # Safety
/// `data` of each tensor points to `bytes` bytes, of which those of outputs are writable and unshared, for the time of the call.
///
/// # Errors
/// No graph of this name, and the library's.
pub unsafe fn execute(context: &Context, name: &str, inputs: &[Bound<'_>], outputs: &[Bound<'_>]) -> Outcome<()> {
    let graph = find(context, name)?;
    let inputs: Vec<abi::Tensor> = inputs.iter().map(|bound| bound.tensor(Kind::Input)).collect();
    let mut outputs: Vec<abi::Tensor> = outputs.iter().map(|bound| bound.tensor(Kind::Output)).collect();
    let execute: signature::Execute = context.device.library.function(function::GRAPH_EXECUTE)?;
    let (count, results) = (inputs.len() as u32, outputs.len() as u32);
    let (inputs, outputs) = (inputs.as_ptr(), outputs.as_mut_ptr());
    // SAFETY: the graph is finalized, and the lists have the stated lengths; the caller answers for the memory.
    let status = unsafe { execute(graph, inputs, count, outputs, results, null_mut(), null_mut()) };
    check(status, "execute the graph")
}

fn find(context: &Context, name: &str) -> Outcome<Handle> {
    let name = text(name)?;
    let retrieve: signature::Retrieve = context.device.library.function(function::GRAPH_RETRIEVE)?;
    let mut handle = null_mut();
    // SAFETY: the context is open, and the name outlives the call; the function writes a handle.
    let status = unsafe { retrieve(context.handle, name.as_ptr(), &mut handle) };
    check(status, "find the graph in the context binary")?;
    Ok(handle)
}

fn text(text: &str) -> Outcome<CString> {
    CString::new(text).map_err(|_| Problem::blob("a name contains a zero byte"))
}

impl Bound<'_> {
    fn tensor(&self, kind: Kind) -> abi::Tensor {
        abi::Tensor {
            version: 2,
            reserved: 0,
            id: self.id,
            name: null(),
            kind: kind as u32,
            format: 0,
            data_type: self.data_type,
            quantization: UNQUANTIZED,
            rank: self.sizes.len() as u32,
            sizes: self.sizes.as_ptr(),
            memory: 0,
            data: self.data.cast::<c_void>(),
            data_size: self.bytes,
            dynamic: null(),
            sparse: NOT_SPARSE,
            produced: 0,
        }
    }
}

const UNQUANTIZED: QuantizeParams = QuantizeParams {
    definition: abi::UNDEFINED,
    encoding: abi::UNDEFINED,
    parameters: abi::Encoding { words: [0; 4] },
};

const NOT_SPARSE: [u32; 3] = [abi::UNDEFINED, 0, 0];

impl Owned {
    fn of(spec: TensorSpec<'_>) -> Outcome<Self> {
        let (quantization, name) = (spec.quantization.clone(), text(spec.name)?);
        let (sizes, data) = (spec.sizes.to_vec(), spec.data.to_vec());
        let block = match &quantization {
            Quantization::Blocks { axis, scales, multiples } => Some(Box::new(abi::BlockEncoding {
                axis: *axis as i32,
                scales: scales.as_ptr(),
                blocks: (multiples.len() / scales.len().max(1)) as u32,
                bits: 4,
                storage: 0,
                multiples: multiples.as_ptr(),
            })),
            _ => None,
        };
        Ok(Self { name, sizes, quantization, block, data })
    }

    fn tensor(&self, kind: Kind, data_type: DataType) -> Outcome<abi::Tensor> {
        let data_size = u32::try_from(self.data.len());
        let data_size = data_size.map_err(|_| Problem::unsupported("a constant has 4 GiB or more"))?;
        let data = if self.data.is_empty() { null() } else { self.data.as_ptr() };
        let bound =
            Bound { id: 0, data_type: data_type as u32, sizes: &self.sizes, data: data.cast_mut(), bytes: data_size };
        Ok(abi::Tensor { name: self.name.as_ptr(), quantization: self.parameters(), ..bound.tensor(kind) })
    }

    fn parameters(&self) -> QuantizeParams {
        let defined = |encoding, parameters| QuantizeParams { definition: abi::DEFINED, encoding, parameters };
        match (&self.quantization, &self.block) {
            (Quantization::None, _) | (Quantization::Blocks { .. }, None) => UNQUANTIZED,
            (Quantization::Tensor(tensor), _) => defined(abi::ENCODING_TENSOR, abi::Encoding { tensor: *tensor }),
            (Quantization::Axis { axis, scales }, _) => {
                let (axis, count) = (*axis as i32, scales.len() as u32);
                let axis = abi::AxisEncoding { axis, count, scales: scales.as_ptr() };
                defined(abi::ENCODING_AXIS, abi::Encoding { axis })
            }
            (Quantization::NarrowAxis { bits, axis, scales }, _) => {
                let (bits, axis, count) = (*bits, *axis as i32, scales.len() as u32);
                let narrow_axis =
                    abi::NarrowAxisEncoding { bits, axis, count, scales: scales.as_ptr(), offsets: null() };
                defined(abi::ENCODING_NARROW_AXIS, abi::Encoding { narrow_axis })
            }
            (Quantization::Blocks { .. }, Some(blocks)) => {
                defined(abi::ENCODING_BLOCKS, abi::Encoding { blocks: &raw const **blocks })
            }
        }
    }
}
