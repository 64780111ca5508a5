//! Inputs and outputs as types of Rust.

use et_core::ScalarType;

use crate::TensorFacts;

/// The type of an input or output in generated code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RustType {
    /// An array of arrays of a fixed shape.
    Fixed(String),
    /// A slice of arrays: the first size of the shape is known at run time.
    Rows(String),
    /// Elements of this type with a shape that is known at run time, and the number of dimensions.
    Dynamic(&'static str, usize),
    /// A number or a text, by the name of its variant in `Constant`.
    Constant(&'static str),
}

/// The type of an input, whose smallest sizes are `least`, if the file has some.
pub fn input(facts: &TensorFacts, least: &[i32]) -> Option<RustType> {
    let element = element(facts.scalar_type)?;
    let inner = facts.sizes.get(1..).filter(|inner| least.get(1..) == Some(*inner));
    Some(match (facts.dynamic, inner) {
        (false, _) => RustType::Fixed(nested(element, &facts.sizes)),
        (true, Some(inner)) => RustType::Rows(nested(element, inner)),
        (true, None) => RustType::Dynamic(element, facts.sizes.len()),
    })
}

/// The type of an output.
pub fn output(facts: &TensorFacts) -> Option<RustType> {
    let element = element(facts.scalar_type)?;
    let rank = facts.sizes.len();
    Some(if facts.dynamic { RustType::Dynamic(element, rank) } else { RustType::Fixed(nested(element, &facts.sizes)) })
}

/// Arrays of arrays of a shape: `[[f32; 4]; 3]` for the sizes 3 and 4.
fn nested(element: &str, sizes: &[i32]) -> String {
    sizes.iter().rev().fold(element.to_owned(), |inner, size| format!("[{inner}; {size}]"))
}

/// The Rust type of elements; `None` for complex numbers.
const fn element(scalar_type: ScalarType) -> Option<&'static str> {
    Some(match scalar_type {
        ScalarType::Byte => "u8",
        ScalarType::Char => "i8",
        ScalarType::Short => "i16",
        ScalarType::Int => "i32",
        ScalarType::Long => "i64",
        ScalarType::Half => "::etbuild_run::Half",
        ScalarType::Float => "f32",
        ScalarType::Double => "f64",
        ScalarType::Bool => "bool",
        ScalarType::BFloat16 => "::etbuild_run::BFloat16",
        ScalarType::ComplexFloat | ScalarType::ComplexDouble => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(dynamic: bool) -> TensorFacts {
        TensorFacts { scalar_type: ScalarType::Float, sizes: vec![8, 3, 4], dynamic, planned: true, nbytes: 384 }
    }

    #[test]
    fn a_shape_is_as_fixed_as_the_file_says() {
        assert_eq!(input(&facts(false), &[]), Some(RustType::Fixed("[[[f32; 4]; 3]; 8]".to_owned())));
        assert_eq!(input(&facts(true), &[1, 3, 4]), Some(RustType::Rows("[[f32; 4]; 3]".to_owned())));
        assert_eq!(input(&facts(true), &[1, 2, 4]), Some(RustType::Dynamic("f32", 3)));
        assert_eq!(input(&facts(true), &[]), Some(RustType::Dynamic("f32", 3)));
        assert_eq!(output(&facts(true)), Some(RustType::Dynamic("f32", 3)));
    }
}
