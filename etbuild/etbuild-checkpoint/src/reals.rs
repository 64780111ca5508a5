//! Stored elements as real numbers, and back.

use et_core::{BFloat16, Half, ScalarType};

/// Elements of `float32`, `float16` or `bfloat16`.
pub fn read(scalar_type: ScalarType, bytes: &[u8]) -> Vec<f32> {
    let halves = bytes.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes));
    match scalar_type {
        ScalarType::Half => halves.map(|bits| Half(bits).to_f32()).collect(),
        ScalarType::BFloat16 => halves.map(|bits| BFloat16(bits).to_f32()).collect(),
        _ => bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
    }
}

/// The bytes of `float32` elements.
pub fn stored(reals: impl IntoIterator<Item = f32>) -> Vec<u8> {
    reals.into_iter().flat_map(f32::to_le_bytes).collect()
}
