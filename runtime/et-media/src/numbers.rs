//! Floating-point numbers as elements of a tensor.

use et_core::{BFloat16, Half, ScalarType};

/// The elements in memory, little-endian; `None` for a type that is not of floating-point numbers.
pub fn bytes_of(scalar_type: ScalarType, numbers: &[f32]) -> Option<Vec<u8>> {
    let numbers = numbers.iter();
    Some(match scalar_type {
        ScalarType::Float => numbers.flat_map(|number| number.to_le_bytes()).collect(),
        ScalarType::Double => numbers.flat_map(|number| f64::from(*number).to_le_bytes()).collect(),
        ScalarType::Half => numbers.flat_map(|number| Half::from_f32(*number).0.to_le_bytes()).collect(),
        ScalarType::BFloat16 => numbers.flat_map(|number| BFloat16::from_f32(*number).0.to_le_bytes()).collect(),
        _ => return None,
    })
}
