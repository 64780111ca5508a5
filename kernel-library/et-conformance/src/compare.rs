//! Outputs against expectations.

use et_core::{BFloat16, Half, ScalarType};
use et_ops::CaseTensor;
use et_ops::call::OwnedTensor;

use crate::convert::{part, tensor_of};

/// Compares type, shape and every element.
pub fn outputs(expected: &[CaseTensor], got: &[OwnedTensor], tolerance: f64) -> Result<(), String> {
    if expected.len() != got.len() {
        return Err(format!("expected {} outputs, got {}", expected.len(), got.len()));
    }
    expected.iter().zip(got).try_for_each(|(expected, got)| tensor(&tensor_of(expected), got, tolerance))
}

fn tensor(expected: &OwnedTensor, got: &OwnedTensor, tolerance: f64) -> Result<(), String> {
    if (expected.scalar_type, &expected.sizes) != (got.scalar_type, &got.sizes) {
        return Err(format!("expected {expected:?}, got {got:?}"));
    }
    let pairs = elements(expected).into_iter().zip(elements(got));
    match pairs.enumerate().find(|(_, (expected, got))| !near(*expected, *got, tolerance)) {
        Some((index, (expected, got))) => Err(format!("element {index}: expected {expected}, got {got}")),
        None => Ok(()),
    }
}

fn near(expected: f64, got: f64, tolerance: f64) -> bool {
    let same = expected == got || (expected.is_nan() && got.is_nan());
    same || (expected.is_finite() && (expected - got).abs() <= tolerance * expected.abs().max(1.0))
}

/// Whether outputs have the expected numbers, whatever the dtypes: within the tolerance, or within the rounding of the
/// coarser of the two dtypes if that is larger.
pub fn numbers(expected: &[OwnedTensor], got: &[OwnedTensor], tolerance: f64) -> bool {
    let same = |(expected, got): (&OwnedTensor, &OwnedTensor)| {
        let tolerance = tolerance.max(rounding(got.scalar_type)).max(rounding(expected.scalar_type));
        let mut pairs = elements(expected).into_iter().zip(elements(got));
        expected.sizes == got.sizes && pairs.all(|(expected, got)| near(expected, got, tolerance))
    };
    expected.len() == got.len() && expected.iter().zip(got).all(same)
}

/// A few units in the last place.
fn rounding(scalar_type: ScalarType) -> f64 {
    match part(scalar_type) {
        ScalarType::BFloat16 => 0.02,
        ScalarType::Half => 0.002,
        ScalarType::Float => 1e-6,
        _ => 0.0,
    }
}

/// The numbers of a tensor, each complex element as two.
pub fn elements(tensor: &OwnedTensor) -> Vec<f64> {
    let part = part(tensor.scalar_type);
    tensor.bytes.chunks_exact(part.size()).map(|bytes| element(part, bytes)).collect()
}

/// The number that the little-endian bytes of an element say.
pub fn element(scalar_type: ScalarType, bytes: &[u8]) -> f64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(word);
    match scalar_type {
        ScalarType::Byte | ScalarType::Bool => bits as f64,
        ScalarType::Char => f64::from(bits as i8),
        ScalarType::Short => f64::from(bits as i16),
        ScalarType::Int => f64::from(bits as i32),
        ScalarType::Long => bits as i64 as f64,
        ScalarType::Half => f64::from(Half(bits as u16).to_f32()),
        ScalarType::Float => f64::from(f32::from_bits(bits as u32)),
        ScalarType::Double | ScalarType::ComplexFloat | ScalarType::ComplexDouble => f64::from_bits(bits),
        ScalarType::BFloat16 => f64::from(BFloat16(bits as u16).to_f32()),
    }
}
