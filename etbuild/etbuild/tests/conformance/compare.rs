//! Compares outputs with the recorded outputs: names, types, shapes, and elements within the case's tolerance.

use et_core::{BFloat16, Half, ScalarType};
use et_module::safetensors::SafeTensors;
use et_module::{Array, Named, TensorView};
use serde_json::Value;

use super::case::Case;

/// Compares all outputs; the error is the first difference.
pub fn outputs(case: &Case, got: &Named<Array>) -> Result<(), String> {
    let recorded = case.read("outputs.safetensors");
    let recorded = SafeTensors::parse(&recorded).unwrap();
    if recorded.tensors.keys().ne(got.keys()) {
        let [got, recorded]: [Vec<_>; 2] = [got.keys().collect(), recorded.tensors.keys().collect()];
        return Err(format!("outputs are {got:?}, not {recorded:?}"));
    }
    let facts = case.facts();
    let one = |(name, wanted): &(String, TensorView<'_>)| {
        let tolerance = tolerance(&facts, name);
        output(&got[name], wanted, tolerance).map_err(|reason| format!("{name}: {reason}"))
    };
    recorded.tensors.iter().try_for_each(one)
}

/// The absolute and relative difference that is allowed.
fn tolerance(facts: &Value, name: &str) -> (f64, f64) {
    let outputs = facts["outputs"].as_array().unwrap();
    let output = outputs.iter().find(|output| output["name"] == name).unwrap();
    (output["atol"].as_f64().unwrap(), output["rtol"].as_f64().unwrap())
}

fn output(got: &Array, wanted: &TensorView<'_>, (atol, rtol): (f64, f64)) -> Result<(), String> {
    if (got.scalar_type, &got.shape) != (wanted.scalar_type, &wanted.shape) {
        let (got_type, wanted_type) = (got.scalar_type.name(), wanted.scalar_type.name());
        return Err(format!("is {got_type}{:?}, not {wanted_type}{:?}", got.shape, wanted.shape));
    }
    let pairs = numbers(got.scalar_type, &got.bytes).into_iter().zip(numbers(wanted.scalar_type, wanted.bytes));
    let wrong = |(got, wanted): &(f64, f64)| !within(*got, *wanted, atol + rtol * wanted.abs());
    match pairs.enumerate().find(|(_, pair)| wrong(pair)) {
        None => Ok(()),
        Some((index, (got, wanted))) => Err(format!("element {index} is {got}, not {wanted} within {atol}")),
    }
}

fn within(got: f64, wanted: f64, tolerance: f64) -> bool {
    got == wanted || (got - wanted).abs() <= tolerance || (got.is_nan() && wanted.is_nan())
}

/// The elements; both parts of each complex element.
fn numbers(scalar_type: ScalarType, bytes: &[u8]) -> Vec<f64> {
    let scalar_type = match scalar_type {
        ScalarType::ComplexFloat => ScalarType::Float,
        ScalarType::ComplexDouble => ScalarType::Double,
        real => real,
    };
    bytes.chunks_exact(scalar_type.size()).map(|word| number(scalar_type, word)).collect()
}

fn number(scalar_type: ScalarType, word: &[u8]) -> f64 {
    match scalar_type {
        ScalarType::Float => f32::from_le_bytes(word.try_into().unwrap()).into(),
        ScalarType::Double => f64::from_le_bytes(word.try_into().unwrap()),
        ScalarType::Half => Half(u16::from_le_bytes(word.try_into().unwrap())).to_f32().into(),
        ScalarType::BFloat16 => BFloat16(u16::from_le_bytes(word.try_into().unwrap())).to_f32().into(),
        ScalarType::Long => i64::from_le_bytes(word.try_into().unwrap()) as f64,
        ScalarType::Int => i32::from_le_bytes(word.try_into().unwrap()).into(),
        ScalarType::Short => i16::from_le_bytes(word.try_into().unwrap()).into(),
        ScalarType::Char => f64::from(word[0] as i8),
        ScalarType::Byte | ScalarType::Bool => word[0].into(),
        // The elements of complex tensors are pairs of numbers.
        ScalarType::ComplexFloat | ScalarType::ComplexDouble => f64::NAN,
    }
}
