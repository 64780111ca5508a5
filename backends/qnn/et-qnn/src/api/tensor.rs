//! Tensors: descriptions, and the form in which the library reads a tensor.

use core::ffi::c_void;
use core::ptr::null;
use std::ffi::CString;

use et_problem::{Outcome, Problem};

use super::abi::{self, QuantizeParams, ScaleOffset};

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

/// Memory that a tensor points to; a vector keeps its address when it moves.
pub(super) struct Owned {
    name: CString,
    sizes: Vec<u32>,
    quantization: Quantization,
    block: Option<Box<abi::BlockEncoding>>,
    data: Vec<u8>,
}

/// A text of the library.
pub(super) fn text(text: &str) -> Outcome<CString> {
    CString::new(text).map_err(|_| Problem::blob("a name contains a zero byte"))
}

impl Bound<'_> {
    pub(super) fn tensor(&self, kind: Kind) -> abi::Tensor {
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
    pub(super) fn of(spec: TensorSpec<'_>) -> Outcome<Self> {
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

    pub(super) fn tensor(&self, kind: Kind, data_type: DataType) -> Outcome<abi::Tensor> {
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
