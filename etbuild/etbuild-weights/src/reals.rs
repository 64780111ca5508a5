//! Stored elements as real numbers, and back.

use et_core::{BFloat16, Half, ScalarType};

/// Elements of `float32`, `float16` or `bfloat16`.
pub fn read(scalar_type: ScalarType, bytes: &[u8]) -> Vec<f32> {
    let halves = bytes.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes));
    match scalar_type {
        ScalarType::Half => halves.map(|bits| Half(bits).to_f32()).collect(),
        ScalarType::BFloat16 => halves.map(|bits| BFloat16(bits).to_f32()).collect(),
        _ => floats(bytes),
    }
}

/// Elements of `float32`.
pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// Elements of `float64`, rounded.
pub fn doubles(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes) as f32).collect()
}

/// The bytes of `float32` elements.
pub fn stored(reals: &[f32]) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(reals)];
    bytes.as_chunks_mut().0.iter_mut().zip(reals).for_each(|(bytes, real)| *bytes = real.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_all_types_are_numbers() {
        let bytes = stored(&[1.0, -0.5]);
        assert_eq!((read(ScalarType::Float, &bytes), bytes.len()), (vec![1.0, -0.5], 8));
        assert_eq!(read(ScalarType::Half, &[0x00, 0x3c, 0x00, 0xb8]), [1.0, -0.5]);
        assert_eq!(read(ScalarType::BFloat16, &[0x80, 0x3f, 0x00, 0xbf]), [1.0, -0.5]);
        assert_eq!(doubles(&[1.0_f64, -0.5].map(f64::to_le_bytes).concat()), [1.0, -0.5]);
    }
}
