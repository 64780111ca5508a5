//! Stored elements as integers.

use et_core::ScalarType;

/// Elements of `int64`, `int32` or `int8`; `None` for other types.
pub fn read(scalar_type: ScalarType, bytes: &[u8]) -> Option<Vec<i64>> {
    match scalar_type {
        ScalarType::Long => Some(bytes.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()),
        ScalarType::Int => Some(bytes.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes).into()).collect()),
        ScalarType::Char => Some(bytes.iter().map(|byte| byte.cast_signed().into()).collect()),
        _ => None,
    }
}

/// Elements of `int8`, less a number.
pub fn less(bytes: &[u8], number: i8) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed().wrapping_sub(number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_all_types_are_integers() {
        assert_eq!(read(ScalarType::Long, &[(-2_i64).to_le_bytes(), 3_i64.to_le_bytes()].concat()), Some(vec![-2, 3]));
        assert_eq!(read(ScalarType::Int, &[(-2_i32).to_le_bytes(), 3_i32.to_le_bytes()].concat()), Some(vec![-2, 3]));
        assert_eq!(read(ScalarType::Char, &[254, 3]), Some(vec![-2, 3]));
        assert_eq!(read(ScalarType::Float, &[0; 4]), None);
        assert_eq!(less(&[254, 3], -8), [6, 11]);
    }
}
