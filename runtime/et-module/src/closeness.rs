//! Whether two arrays are the same up to rounding.

use et_core::{BFloat16, Element, Half, ScalarType};

use crate::Array;

/// The allowed distance of an element from the expected element: `absolute + relative * |expected|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// In the unit of the elements.
    pub absolute: f64,
    /// In parts of the expected element.
    pub relative: f64,
}

impl Default for Tolerance {
    /// The default of upstream's `verify_method_outputs`.
    fn default() -> Self {
        Self { absolute: 1e-8, relative: 1e-5 }
    }
}

impl Tolerance {
    /// The same, not below two roundings of an element of this type.
    fn for_type(self, scalar_type: ScalarType) -> Self {
        let rounding = match scalar_type {
            ScalarType::Half => f64::from(2_f32.powi(-10)),
            ScalarType::BFloat16 => f64::from(2_f32.powi(-7)),
            _ => 0.0,
        };
        Self { relative: self.relative.max(rounding), ..self }
    }

    fn allows(self, expected: f64, got: f64) -> bool {
        let same = expected == got || expected.is_nan() && got.is_nan();
        same || expected.is_finite() && (got - expected).abs() <= self.relative.mul_add(expected.abs(), self.absolute)
    }
}

/// The mismatch of an array that should equal `expected`, if any. Integers and booleans must be equal.
pub fn difference(expected: &Array, got: &Array, tolerance: Tolerance) -> Option<String> {
    if (expected.scalar_type, &expected.shape) != (got.scalar_type, &got.shape) {
        let shown = |array: &Array| format!("{}{:?}", array.scalar_type.name(), array.shape);
        return Some(format!("{} instead of {}", shown(got), shown(expected)));
    }
    if !expected.scalar_type.is_float() {
        return (expected.bytes != got.bytes).then(|| "other integers or booleans".to_owned());
    }
    let tolerance = tolerance.for_type(expected.scalar_type);
    let pairs = || to_numbers(expected).into_iter().zip(to_numbers(got));
    let far = pairs().filter(|(expected, got)| !tolerance.allows(*expected, *got)).count();
    let largest = pairs().map(|(expected, got)| (got - expected).abs()).fold(0.0, f64::max);
    (far > 0).then(|| format!("{far} of {} elements are too far off, the furthest by {largest:e}", pairs().count()))
}

/// The elements of a floating-point array.
fn to_numbers(array: &Array) -> Vec<f64> {
    match array.scalar_type {
        ScalarType::Half => elements(array, |bytes| Half(u16::from_le_bytes(bytes)).to_f64()),
        ScalarType::BFloat16 => elements(array, |bytes| BFloat16(u16::from_le_bytes(bytes)).to_f64()),
        ScalarType::Float => elements(array, |bytes| f64::from(f32::from_le_bytes(bytes))),
        ScalarType::Double => elements(array, f64::from_le_bytes),
        _ => Vec::new(),
    }
}

fn elements<const N: usize>(array: &Array, read: impl Fn([u8; N]) -> f64) -> Vec<f64> {
    array.bytes.as_chunks().0.iter().copied().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(expected: &[f32], got: &[f32]) -> Option<String> {
        let array = |elements: &[f32]| Array::floats(&[elements.len()], elements).unwrap();
        difference(&array(expected), &array(got), Tolerance::default())
    }

    #[test]
    fn rounding_is_allowed_and_no_more() {
        assert_eq!(compare(&[1.0, -2.0], &[1.000_009, -2.000_01]), None);
        assert!(compare(&[1.0, 2.0], &[1.000_02, 2.0]).unwrap().starts_with("1 of 2 elements"));
    }

    #[test]
    fn what_is_no_number_equals_itself_only() {
        assert_eq!(compare(&[f32::NAN, f32::INFINITY], &[f32::NAN, f32::INFINITY]), None);
        assert!(compare(&[f32::NAN], &[0.0]).is_some());
        assert!(compare(&[0.0], &[f32::NAN]).is_some());
        assert!(compare(&[f32::INFINITY], &[f32::NEG_INFINITY]).is_some());
    }

    #[test]
    fn another_shape_is_a_difference() {
        assert_eq!(compare(&[1.0], &[1.0, 1.0]), Some("float32[2] instead of float32[1]".to_owned()));
    }
}
