//! An operation with its operands in memory.

use std::sync::Arc;

use et_core::Half;
use et_qnn::build::{DataType, Quantization};
use etbuild_backend::{Refusal, RefusalKind};

use crate::program::{Operation, Parameter, Program, Tensor, width};

/// The elements of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// Integers of any type.
    Integers(Vec<i32>),
    /// fp16 and fp32.
    Numbers(Vec<f32>),
}

/// An operation of a graph.
pub struct Step<'p> {
    /// The graph.
    pub program: &'p Program,
    /// The operation.
    pub operation: &'p Operation,
    /// The elements of tensors that were computed.
    pub memory: &'p [Option<Arc<Elements>>],
}

/// A scale and a zero point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Qparams {
    /// The distance of neighbours.
    pub scale: f64,
    /// The integer of 0.0.
    pub zero: i64,
}

/// The refusal of a graph that lowering does not make.
pub fn malformed() -> Refusal {
    Refusal::new(RefusalKind::Partition, "an operation of the NPU has other tensors than its kind")
}

impl Step<'_> {
    /// The tensor of an operand.
    ///
    /// # Errors
    /// No such operand.
    pub fn tensor(&self, position: usize) -> Result<&Tensor, Refusal> {
        self.operation.inputs.get(position).map(|id| self.program.get(*id)).ok_or_else(malformed)
    }

    /// The tensor of the result.
    pub fn output(&self) -> &Tensor {
        self.program.get(self.operation.output)
    }

    /// The elements of an operand.
    ///
    /// # Errors
    /// No such operand, or one that was not computed.
    pub fn elements(&self, position: usize) -> Result<Arc<Elements>, Refusal> {
        let (id, tensor) = (self.operation.inputs.get(position).ok_or_else(malformed)?, self.tensor(position)?);
        match self.memory.get(id.0).and_then(Option::as_ref) {
            Some(elements) => Ok(elements.clone()),
            None => Elements::of_bytes(tensor, &tensor.data).map(Arc::new),
        }
    }

    /// The integers of an operand.
    ///
    /// # Errors
    /// An operand of other elements.
    pub fn integers(&self, position: usize) -> Result<Vec<i64>, Refusal> {
        match &*self.elements(position)? {
            Elements::Integers(integers) => Ok(integers.iter().copied().map(i64::from).collect()),
            Elements::Numbers(_) => Err(malformed()),
        }
    }

    /// The real numbers of an operand.
    ///
    /// # Errors
    /// No such operand.
    pub fn numbers(&self, position: usize) -> Result<Vec<f64>, Refusal> {
        let qparams = qparams(self.tensor(position)?);
        Ok(match (&*self.elements(position)?, qparams) {
            (Elements::Numbers(numbers), _) => numbers.iter().copied().map(f64::from).collect(),
            (Elements::Integers(integers), Some(Qparams { scale, zero })) => {
                integers.iter().map(|integer| (i64::from(*integer) - zero) as f64 * scale).collect()
            }
            (Elements::Integers(integers), None) => integers.iter().copied().map(f64::from).collect(),
        })
    }

    /// The result of real numbers, rounded once.
    pub fn rounded(&self, numbers: impl IntoIterator<Item = f64>) -> Elements {
        let Tensor { data_type, .. } = self.output();
        let numbers = numbers.into_iter();
        match qparams(self.output()) {
            Some(Qparams { scale, zero }) => {
                self.saturated(numbers.map(|number| (number / scale + 0.5).floor() as i64 + zero))
            }
            None if *data_type == DataType::Float16 => {
                Elements::Numbers(numbers.map(|number| Half::from_f32(number as f32).to_f32()).collect())
            }
            None => Elements::Numbers(numbers.map(|number| number as f32).collect()),
        }
    }

    /// The result as integers, saturated to the range of its data type.
    pub fn saturated(&self, integers: impl IntoIterator<Item = i64>) -> Elements {
        let [least, most] = limits(self.output().data_type);
        Elements::Integers(integers.into_iter().map(|integer| integer.clamp(least, most) as i32).collect())
    }

    /// The qparams of operands and of the result, if all are integers of this number of bytes.
    pub fn of_width<const COUNT: usize>(&self, bytes: usize) -> Option<([Qparams; COUNT], Qparams)> {
        let of = |tensor: &Tensor| qparams(tensor).filter(|_| width(tensor.data_type) == bytes);
        let mut operands = [Qparams { scale: 1.0, zero: 0 }; COUNT];
        for (position, operand) in operands.iter_mut().enumerate() {
            *operand = of(self.tensor(position).ok()?)?;
        }
        Some((operands, of(self.output())?))
    }

    /// The numbers of a parameter; empty for an operation without the parameter.
    pub fn sizes(&self, name: &str) -> Vec<usize> {
        match self.parameter(name) {
            Some(Parameter::Integers(_, numbers)) => numbers.iter().map(|number| *number as usize).collect(),
            Some(Parameter::Signed(_, numbers)) => numbers.iter().map(|number| *number as usize).collect(),
            Some(Parameter::Uint32(number)) => vec![*number as usize],
            Some(Parameter::Int32(number)) => vec![*number as usize],
            _ => Vec::new(),
        }
    }

    /// A parameter.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.operation.parameters.iter().find(|(key, _)| key == name).map(|(_, parameter)| parameter)
    }
}

impl Elements {
    /// The elements of a tensor's bytes.
    ///
    /// # Errors
    /// Bytes of another number of elements.
    pub fn of_bytes(tensor: &Tensor, bytes: &[u8]) -> Result<Self, Refusal> {
        let elements: usize = tensor.sizes.iter().map(|size| *size as usize).product();
        if bytes.len() != elements * width(tensor.data_type) {
            return Err(malformed());
        }
        let pairs = || bytes.as_chunks::<2>().0.iter().copied();
        let quads = || bytes.as_chunks::<4>().0.iter().copied();
        Ok(match tensor.data_type {
            DataType::Int8 => Self::Integers(bytes.iter().map(|byte| i32::from(byte.cast_signed())).collect()),
            DataType::Uint8 | DataType::Bool => Self::Integers(bytes.iter().map(|byte| i32::from(*byte)).collect()),
            DataType::Int16 => Self::Integers(pairs().map(|pair| i32::from(i16::from_le_bytes(pair))).collect()),
            DataType::Uint16 => Self::Integers(pairs().map(|pair| i32::from(u16::from_le_bytes(pair))).collect()),
            DataType::Int32 | DataType::Uint32 | DataType::Fixed32 => {
                Self::Integers(quads().map(i32::from_le_bytes).collect())
            }
            DataType::Float16 => Self::Numbers(pairs().map(|pair| Half(u16::from_le_bytes(pair)).to_f32()).collect()),
            DataType::Float32 => Self::Numbers(quads().map(f32::from_le_bytes).collect()),
        })
    }

    /// The bytes of the elements in a type.
    pub fn bytes(&self, data_type: DataType) -> Vec<u8> {
        match self {
            Self::Integers(integers) => {
                integers.iter().flat_map(|integer| integer.to_le_bytes().into_iter().take(width(data_type))).collect()
            }
            Self::Numbers(numbers) if data_type == DataType::Float16 => {
                numbers.iter().flat_map(|number| Half::from_f32(*number).0.to_le_bytes()).collect()
            }
            Self::Numbers(numbers) => numbers.iter().flat_map(|number| number.to_le_bytes()).collect(),
        }
    }

    /// The elements at these positions.
    pub fn gathered(&self, positions: &[usize]) -> Self {
        match self {
            Self::Integers(integers) => {
                Self::Integers(positions.iter().filter_map(|position| integers.get(*position).copied()).collect())
            }
            Self::Numbers(numbers) => {
                Self::Numbers(positions.iter().filter_map(|position| numbers.get(*position).copied()).collect())
            }
        }
    }
}

/// The smallest and the largest integer of a type.
const fn limits(data_type: DataType) -> [i64; 2] {
    match data_type {
        DataType::Int8 => [-128, 127],
        DataType::Uint8 => [0, 255],
        DataType::Int16 => [-32_768, 32_767],
        DataType::Uint16 => [0, 65_535],
        _ => [i32::MIN as i64, i32::MAX as i64],
    }
}

/// The qparams of a tensor with one scale.
pub fn qparams(tensor: &Tensor) -> Option<Qparams> {
    match &tensor.quantization {
        Quantization::Tensor(each) => Some(Qparams { scale: f64::from(each.scale), zero: -i64::from(each.offset) }),
        _ => None,
    }
}
