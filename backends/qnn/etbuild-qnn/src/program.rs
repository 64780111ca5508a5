//! A graph for the vendor's compiler: tensors and operations in order.

use std::fmt;

use et_qnn::Binding;
use et_qnn::build::{DataType, Kind, Quantization};
use serde::{Deserialize, Serialize};

/// The number of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TensorId(pub usize);

/// A tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tensor {
    /// The name of the value in the partition.
    pub name: String,
    /// The memory.
    pub kind: Kind,
    /// The type of elements.
    pub data_type: DataType,
    /// The quantization.
    pub quantization: Quantization,
    /// The sizes in the order of memory.
    pub sizes: Vec<u32>,
    /// The elements of a constant.
    #[serde(with = "crate::bytes")]
    pub data: Vec<u8>,
}

impl Tensor {
    /// The sizes as numbers of elements.
    pub fn dims(&self) -> Vec<usize> {
        self.sizes.iter().map(|size| *size as usize).collect()
    }
}

/// A parameter of an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Parameter {
    /// A number.
    Uint32(u32),
    /// A number.
    Int32(i32),
    /// A number.
    Float32(f32),
    /// A flag.
    Bool(bool),
    /// Integers with their sizes.
    Integers(Vec<u32>, Vec<u32>),
    /// Signed integers with their sizes.
    Signed(Vec<u32>, Vec<i32>),
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// The type, such as `Conv2d`.
    pub type_name: String,
    /// The parameters by name.
    pub parameters: Vec<(String, Parameter)>,
    /// The inputs.
    pub inputs: Vec<TensorId>,
    /// The output.
    pub output: TensorId,
}

/// A graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The tensors.
    pub tensors: Vec<Tensor>,
    /// The operations in order.
    pub operations: Vec<Operation>,
    /// The inputs of the graph, each with what its elements are in the call.
    pub inputs: Vec<(TensorId, Binding)>,
    /// The outputs of the graph.
    pub outputs: Vec<(TensorId, Binding)>,
}

impl Program {
    /// Adds a tensor.
    pub fn tensor(&mut self, tensor: Tensor) -> TensorId {
        self.tensors.push(tensor);
        TensorId(self.tensors.len() - 1)
    }

    /// The tensor of a number.
    pub fn get(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0]
    }
}

/// The bytes of an element.
pub const fn width(data_type: DataType) -> usize {
    match data_type {
        DataType::Int8 | DataType::Uint8 | DataType::Bool => 1,
        DataType::Int16 | DataType::Uint16 | DataType::Float16 => 2,
        DataType::Int32 | DataType::Uint32 | DataType::Fixed32 | DataType::Float32 => 4,
    }
}

/// An operation per line.
impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Operation { type_name, parameters, inputs, output } in &self.operations {
            write!(formatter, "{} = {type_name}(", Shown(self, *output))?;
            for (position, input) in inputs.iter().enumerate() {
                let comma = if position == 0 { "" } else { ", " };
                write!(formatter, "{comma}{}", Shown(self, *input))?;
            }
            write!(formatter, ")")?;
            for (name, parameter) in parameters {
                write!(formatter, " {name}={parameter}")?;
            }
            writeln!(formatter)?;
        }
        Ok(())
    }
}

/// A tensor in text.
struct Shown<'p>(&'p Program, TensorId);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tensor { name, kind, data_type, quantization, sizes, .. } = self.0.get(self.1);
        let mark = match kind {
            Kind::Input => "input ",
            Kind::Output => "output ",
            Kind::Static => "constant ",
            Kind::Native => "%",
        };
        write!(formatter, "{mark}{name} {data_type:?}{sizes:?}")?;
        match quantization {
            Quantization::None => Ok(()),
            Quantization::Tensor(each) => write!(formatter, "*{:e}{:+}", each.scale, each.offset),
            Quantization::Axis { axis, scales } => write!(formatter, "*{}@{axis}", scales.len()),
            Quantization::NarrowAxis { bits, axis, scales } => write!(formatter, "*{}@{axis}:{bits}", scales.len()),
            Quantization::Blocks { axis, scales, multiples } => {
                write!(formatter, "*{}x{}@{axis}", scales.len(), multiples.len() / scales.len().max(1))
            }
        }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uint32(number) => write!(formatter, "{number}"),
            Self::Int32(number) => write!(formatter, "{number}"),
            Self::Float32(number) => write!(formatter, "{number:?}"),
            Self::Bool(flag) => write!(formatter, "{flag}"),
            Self::Integers(_, numbers) => write!(formatter, "{numbers:?}"),
            Self::Signed(_, numbers) => write!(formatter, "{numbers:?}"),
        }
    }
}
