//! Constant cases as owned arguments.

use et_core::{BFloat16, Element, Error, Half, ScalarType, Shape};
use et_ops::call::{Argument, OwnedTensor};
use et_ops::{CaseArgument, CaseTensor, Meta};

/// An argument of a case, with tensors in memory.
pub enum Owned {
    /// An argument that is not a tensor.
    Plain(Argument<'static>),
    /// A tensor.
    Tensor(OwnedTensor),
    /// Tensors.
    Tensors(Vec<Option<OwnedTensor>>),
}

/// The arguments of a case.
pub fn owned_arguments(arguments: &[CaseArgument]) -> Vec<Owned> {
    arguments.iter().map(owned).collect()
}

fn owned(argument: &CaseArgument) -> Owned {
    Owned::Plain(match argument {
        CaseArgument::None => Argument::None,
        CaseArgument::Int(value) => Argument::Int(*value),
        CaseArgument::Bool(value) => Argument::Bool(*value),
        CaseArgument::Double(value) => Argument::Double(*value),
        CaseArgument::Text(value) => Argument::Text(value),
        CaseArgument::Ints(values) => Argument::Ints(values.to_vec()),
        CaseArgument::Doubles(values) => Argument::Doubles(values.to_vec()),
        CaseArgument::Bools(values) => Argument::Bools(values.to_vec()),
        CaseArgument::Type(scalar_type) => Argument::Int(i64::from(*scalar_type as u8)),
        CaseArgument::Tensor(tensor) => return Owned::Tensor(tensor_of(tensor)),
        CaseArgument::Tensors(tensors) => {
            return Owned::Tensors(tensors.iter().map(|tensor| Some(tensor_of(tensor))).collect());
        }
        CaseArgument::OptionalTensors(tensors) => {
            return Owned::Tensors(tensors.iter().map(|tensor| tensor.as_ref().map(tensor_of)).collect());
        }
    })
}

impl Owned {
    /// Borrows the argument in the form that a kernel call takes.
    pub fn borrow(&self) -> Argument<'_> {
        match self {
            Self::Plain(argument) => argument.clone(),
            Self::Tensor(tensor) => Argument::Tensor(tensor.as_ref()),
            Self::Tensors(tensors) => {
                Argument::Tensors(tensors.iter().map(|tensor| tensor.as_ref().map(OwnedTensor::as_ref)).collect())
            }
        }
    }
}

/// Types and shapes of the tensors.
pub fn metas(tensors: &[CaseTensor]) -> Result<Vec<Meta>, Error> {
    tensors
        .iter()
        .map(|tensor| Ok(Meta { scalar_type: tensor.scalar_type, shape: Shape::new(tensor.sizes)? }))
        .collect()
}

/// The tensor in memory.
pub fn tensor_of(tensor: &CaseTensor) -> OwnedTensor {
    let part = part(tensor.scalar_type);
    let bytes = tensor.elements.iter().flat_map(|element| bytes_of(part, *element)).collect();
    OwnedTensor { scalar_type: tensor.scalar_type, sizes: tensor.sizes.to_vec(), bytes }
}

/// The type of the numbers that a case writes: each complex element is two, the real and the imaginary part.
pub const fn part(scalar_type: ScalarType) -> ScalarType {
    match scalar_type {
        ScalarType::ComplexFloat => ScalarType::Float,
        ScalarType::ComplexDouble => ScalarType::Double,
        real => real,
    }
}

/// A number as a little-endian element of a dtype. A number that the dtype cannot hold is converted by the rules of
/// that dtype.
pub fn bytes_of(scalar_type: ScalarType, element: f64) -> Vec<u8> {
    match scalar_type {
        ScalarType::Byte => vec![u8::from_f64(element)],
        ScalarType::Char => i8::from_f64(element).to_le_bytes().to_vec(),
        ScalarType::Short => i16::from_f64(element).to_le_bytes().to_vec(),
        ScalarType::Int => i32::from_f64(element).to_le_bytes().to_vec(),
        ScalarType::Long => i64::from_f64(element).to_le_bytes().to_vec(),
        ScalarType::Half => Half::from_f64(element).0.to_le_bytes().to_vec(),
        ScalarType::Float => f32::from_f64(element).to_le_bytes().to_vec(),
        ScalarType::Double | ScalarType::ComplexFloat | ScalarType::ComplexDouble => element.to_le_bytes().to_vec(),
        ScalarType::Bool => vec![u8::from(bool::from_f64(element))],
        ScalarType::BFloat16 => BFloat16::from_f64(element).0.to_le_bytes().to_vec(),
    }
}
