//! Elements of tensors as single-precision numbers, whatever their type.

use et_core::{BFloat16, Half, ScalarType};

/// The bytes of numbers in a type; `None` for a type of other elements.
pub fn to_bytes(scalar_type: ScalarType, numbers: &[f32]) -> Option<Vec<u8>> {
    let all = numbers.iter().copied();
    Some(match scalar_type {
        ScalarType::Float => all.flat_map(f32::to_le_bytes).collect(),
        ScalarType::Half => all.flat_map(|number| Half::from_f32(number).0.to_le_bytes()).collect(),
        ScalarType::BFloat16 => all.flat_map(|number| BFloat16::from_f32(number).0.to_le_bytes()).collect(),
        ScalarType::Long => all.flat_map(|number| (number as i64).to_le_bytes()).collect(),
        ScalarType::Int => all.flat_map(|number| (number as i32).to_le_bytes()).collect(),
        _ => return None,
    })
}

/// The numbers of bytes in a floating-point type; `None` for a type of other elements.
pub fn to_floats(scalar_type: ScalarType, bytes: &[u8]) -> Option<Vec<f32>> {
    Some(match scalar_type {
        ScalarType::Float => bytes.as_chunks().0.iter().copied().map(f32::from_le_bytes).collect(),
        ScalarType::Half => halves(bytes).map(|bits| Half(bits).to_f32()).collect(),
        ScalarType::BFloat16 => halves(bytes).map(|bits| BFloat16(bits).to_f32()).collect(),
        _ => return None,
    })
}

/// Whether the type has integers only.
pub const fn is_whole(scalar_type: ScalarType) -> bool {
    matches!(scalar_type, ScalarType::Long | ScalarType::Int)
}

fn halves(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes.as_chunks().0.iter().copied().map(u16::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_every_floating_point_type() {
        let numbers = [0.5, -2.0, 3.0];
        for scalar_type in [ScalarType::Float, ScalarType::Half, ScalarType::BFloat16] {
            let bytes = to_bytes(scalar_type, &numbers).unwrap();
            assert_eq!(to_floats(scalar_type, &bytes).unwrap(), numbers, "{scalar_type:?}");
        }
        assert_eq!(to_bytes(ScalarType::Int, &[3.0]).unwrap(), 3_i32.to_le_bytes());
        assert_eq!(to_bytes(ScalarType::Bool, &numbers), None);
    }
}
