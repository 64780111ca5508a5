//! The memory layout of the interface: structures, functions, numbers.

use core::ffi::{c_char, c_void};

/// A result: 0 for success, else an error whose low 16 bits are the number of the error.
pub type Status = u64;

/// A handle: a pointer that only the library follows.
pub type Handle = *mut c_void;

/// A version.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Incompatible changes.
    pub major: u32,
    /// Compatible additions.
    pub minor: u32,
    /// Corrections.
    pub patch: u32,
}

/// What a backend library provides.
#[repr(C)]
pub struct Interface {
    /// The number of the backend: [`HTP`].
    pub backend: u32,
    /// The name of the backend.
    pub provider: *const c_char,
    /// The version of the interface.
    pub core: Version,
    /// The version of the backend.
    pub backend_version: Version,
    /// The functions, by the numbers of [`function`].
    pub functions: [Option<unsafe extern "C" fn()>; FUNCTIONS],
}

/// The number of the backend for the NPU: the Hexagon Tensor Processor.
pub const HTP: u32 = 6;

/// The first functions of the table, which later versions only extend.
pub const FUNCTIONS: usize = 50;

/// The positions of functions in [`Interface::functions`].
pub mod function {
    pub const BACKEND_CREATE: usize = 1;
    pub const BACKEND_BUILD_ID: usize = 4;
    pub const VALIDATE_OPERATION: usize = 7;
    pub const BACKEND_FREE: usize = 8;
    pub const CONTEXT_CREATE: usize = 9;
    pub const CONTEXT_BINARY_SIZE: usize = 11;
    pub const CONTEXT_BINARY: usize = 12;
    pub const CONTEXT_RESTORE: usize = 13;
    pub const CONTEXT_FREE: usize = 14;
    pub const GRAPH_CREATE: usize = 15;
    pub const GRAPH_ADD: usize = 18;
    pub const GRAPH_FINALIZE: usize = 19;
    pub const GRAPH_RETRIEVE: usize = 20;
    pub const GRAPH_EXECUTE: usize = 21;
    pub const TENSOR_CREATE: usize = 24;
    pub const LOG_CREATE: usize = 25;
    pub const LOG_FREE: usize = 27;
    pub const DEVICE_CREATE: usize = 40;
    pub const DEVICE_FREE: usize = 43;
}

/// The types of functions.
pub mod signature {
    use super::{Custom, Handle, LogCallback, Operation, SocOption, Status, Tensor, c_char, c_void};

    pub type Providers = unsafe extern "C" fn(*mut *const *const super::Interface, *mut u32) -> Status;
    pub type BackendCreate = unsafe extern "C" fn(Handle, *const *const c_void, *mut Handle) -> Status;
    pub type BuildId = unsafe extern "C" fn(*mut *const c_char) -> Status;
    pub type Free = unsafe extern "C" fn(Handle) -> Status;
    pub type Validate = unsafe extern "C" fn(Handle, Operation) -> Status;
    pub type DeviceCreate = unsafe extern "C" fn(Handle, *const *const Custom<SocOption>, *mut Handle) -> Status;
    pub type ContextCreate = unsafe extern "C" fn(Handle, Handle, *const *const c_void, *mut Handle) -> Status;
    pub type BinarySize = unsafe extern "C" fn(Handle, *mut u64) -> Status;
    pub type Binary = unsafe extern "C" fn(Handle, *mut c_void, u64, *mut u64) -> Status;
    pub type Restore =
        unsafe extern "C" fn(Handle, Handle, *const *const c_void, *const c_void, u64, *mut Handle, Handle) -> Status;
    pub type ContextFree = unsafe extern "C" fn(Handle, Handle) -> Status;
    pub type GraphCreate = unsafe extern "C" fn(Handle, *const c_char, *const *const c_void, *mut Handle) -> Status;
    pub type GraphAdd = unsafe extern "C" fn(Handle, Operation) -> Status;
    pub type Finalize = unsafe extern "C" fn(Handle, Handle, Handle) -> Status;
    pub type Retrieve = unsafe extern "C" fn(Handle, *const c_char, *mut Handle) -> Status;
    pub type Execute = unsafe extern "C" fn(Handle, *const Tensor, u32, *mut Tensor, u32, Handle, Handle) -> Status;
    pub type TensorCreate = unsafe extern "C" fn(Handle, *mut Tensor) -> Status;
    pub type LogCreate = unsafe extern "C" fn(LogCallback, u32, *mut Handle) -> Status;
}

/// A function that gets the library's messages: format, level, time, and a `va_list`, which all supported machines pass as a
/// pointer.
pub type LogCallback = unsafe extern "C" fn(*const c_char, u32, u64, *mut c_void);

/// An entry of a configuration: a custom option of the backend.
#[repr(C)]
pub struct Custom<T> {
    /// 0: custom.
    pub option: u32,
    /// The option.
    pub custom: *const T,
}

/// Whether the graphs of a context share equal weights.
#[repr(C)]
pub struct WeightSharing {
    /// 1: weight sharing.
    pub option: u32,
    /// Whether weights are shared; the place has the size of a pointer.
    pub is_enabled: u64,
}

/// The chip of a device. Versions of the interface have the number of the chip in the second or the third word.
#[repr(C)]
pub struct SocOption {
    /// 0: the chip.
    pub option: u32,
    /// The number of the chip, for older versions.
    pub soc_before: u32,
    /// The number of the chip.
    pub soc: u32,
    /// Unused.
    pub reserved: u32,
}

/// A scale and an offset: a real number is `(integer + offset) * scale`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScaleOffset {
    /// The distance of neighbours.
    pub scale: f32,
    /// The negative zero point.
    pub offset: i32,
}

/// How integers of a tensor represent real numbers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct QuantizeParams {
    /// [`DEFINED`] or [`UNDEFINED`].
    pub definition: u32,
    /// An `ENCODING_*`.
    pub encoding: u32,
    /// The parameters.
    pub parameters: Encoding,
}

/// The parameters of an encoding.
#[repr(C)]
#[derive(Clone, Copy)]
pub union Encoding {
    /// One scale.
    pub tensor: ScaleOffset,
    /// A scale per index of an axis.
    pub axis: AxisEncoding,
    /// As `axis`, of integers with fewer bits than their type.
    pub narrow_axis: NarrowAxisEncoding,
    /// Scales of blocks.
    pub blocks: *const BlockEncoding,
    /// The size of the union.
    pub words: [u64; 4],
}

/// A scale per index of an axis.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AxisEncoding {
    /// The axis.
    pub axis: i32,
    /// The number of scales.
    pub count: u32,
    /// The scales.
    pub scales: *const ScaleOffset,
}

/// A scale per index of an axis, of integers with fewer bits than their type.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NarrowAxisEncoding {
    /// The bits of an integer.
    pub bits: u32,
    /// The axis.
    pub axis: i32,
    /// The number of scales.
    pub count: u32,
    /// The scales.
    pub scales: *const f32,
    /// The offsets; null for zeros.
    pub offsets: *const i32,
}

/// Low-power block quantization: blocks of input channels have scales that are multiples of a scale per output channel.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BlockEncoding {
    /// The axis of output channels.
    pub axis: i32,
    /// The scales of output channels.
    pub scales: *const ScaleOffset,
    /// Blocks of an output channel.
    pub blocks: u32,
    /// The bits of a block's multiple: 4.
    pub bits: u32,
    /// The type of multiples: 0 for bytes.
    pub storage: u32,
    /// The multiples, by output channel, then block.
    pub multiples: *const u8,
}

/// A tensor of the second version.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Tensor {
    /// 2.
    pub version: u32,
    /// Unused.
    pub reserved: u32,
    /// The number of the tensor; the library writes it.
    pub id: u32,
    /// The name.
    pub name: *const c_char,
    /// A `TENSOR_*`.
    pub kind: u32,
    /// 0: dense.
    pub format: u32,
    /// A data type.
    pub data_type: u32,
    /// The quantization.
    pub quantization: QuantizeParams,
    /// The number of dimensions.
    pub rank: u32,
    /// The sizes.
    pub sizes: *const u32,
    /// 0: memory of the caller.
    pub memory: u32,
    /// The elements.
    pub data: *mut c_void,
    /// The bytes of the elements.
    pub data_size: u32,
    /// Flags of dynamic sizes; null.
    pub dynamic: *const u8,
    /// [`UNDEFINED`]: not sparse.
    pub sparse: [u32; 3],
    /// Whether an execution produced the tensor.
    pub produced: u8,
}

/// A parameter of an operation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Parameter {
    /// 0 for a scalar, 1 for a tensor.
    pub kind: u32,
    /// The name.
    pub name: *const c_char,
    /// The value.
    pub value: ParameterValue,
}

/// The value of a parameter.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ParameterValue {
    /// A scalar.
    pub scalar: Scalar,
    /// A tensor.
    pub tensor: Tensor,
}

/// A scalar.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Scalar {
    /// A data type.
    pub data_type: u32,
    /// The bits in the low bytes.
    pub bits: u64,
}

/// An operation of a graph, passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Operation {
    /// 1.
    pub version: u32,
    /// The name.
    pub name: *const c_char,
    /// The package of the operation type.
    pub package: *const c_char,
    /// The operation type.
    pub type_name: *const c_char,
    /// The number of parameters.
    pub parameter_count: u32,
    /// The parameters.
    pub parameters: *const Parameter,
    /// The number of inputs.
    pub input_count: u32,
    /// The inputs.
    pub inputs: *const Tensor,
    /// The number of outputs.
    pub output_count: u32,
    /// The outputs.
    pub outputs: *const Tensor,
}

pub const DEFINED: u32 = 1;
pub const UNDEFINED: u32 = 0x7fff_ffff;
pub const ENCODING_TENSOR: u32 = 0;
pub const ENCODING_AXIS: u32 = 1;
pub const ENCODING_NARROW_AXIS: u32 = 3;
pub const ENCODING_BLOCKS: u32 = 5;
pub const TENSOR_INPUT: u32 = 0;
pub const TENSOR_OUTPUT: u32 = 1;
pub const TENSOR_NATIVE: u32 = 3;
pub const TENSOR_STATIC: u32 = 4;

const _: () = assert!(size_of::<Tensor>() == 144 && size_of::<QuantizeParams>() == 40);
const _: () = assert!(size_of::<Operation>() == 80 && size_of::<Parameter>() == 160);
const _: () = assert!(core::mem::offset_of!(Interface, functions) == 40);
const _: () = assert!(core::mem::offset_of!(Tensor, quantization) == 40 && core::mem::offset_of!(Tensor, data) == 104);
