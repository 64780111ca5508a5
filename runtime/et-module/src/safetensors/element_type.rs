//! The names of element types in a header.

use et_core::ScalarType;

const NAMES: [(&str, ScalarType); 12] = [
    ("C128", ScalarType::ComplexDouble),
    ("C64", ScalarType::ComplexFloat),
    ("F64", ScalarType::Double),
    ("F32", ScalarType::Float),
    ("F16", ScalarType::Half),
    ("BF16", ScalarType::BFloat16),
    ("I64", ScalarType::Long),
    ("I32", ScalarType::Int),
    ("I16", ScalarType::Short),
    ("I8", ScalarType::Char),
    ("U8", ScalarType::Byte),
    ("BOOL", ScalarType::Bool),
];

/// The names of numbers of 8 bits, which are read as bytes.
const CODES: [&str; 3] = ["F8_E4M3", "F8_E5M2", "F8_E8M0"];

/// The name of words of packed integers, which are read as `I32`.
const WORDS: &str = "U32";

/// The type with this name.
pub(super) fn from_name(name: &str) -> Option<ScalarType> {
    let known = NAMES.iter().find(|entry| entry.0 == name).map(|entry| entry.1);
    let word = || (name == WORDS).then_some(ScalarType::Int);
    known.or_else(word).or_else(|| CODES.contains(&name).then_some(ScalarType::Byte))
}

/// The name of a type.
pub(super) fn name(scalar_type: ScalarType) -> &'static str {
    NAMES.iter().find(|entry| entry.1 == scalar_type).map_or("", |entry| entry.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_name() {
        for scalar_type in ScalarType::ALL {
            assert_eq!(from_name(name(scalar_type)), Some(scalar_type));
        }
    }
}
