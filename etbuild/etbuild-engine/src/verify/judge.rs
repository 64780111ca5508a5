//! Outputs against reference outputs and labels.

use std::collections::BTreeMap;

use et_core::ScalarType;
use et_module::TensorView;
use et_module::safetensors::SafeTensors;
use etbuild_diagnostic::{Code, Diagnostic};
use serde::Serialize;

use crate::link::verify_data;
use crate::quantize::Answers;

/// How near a binary comes to the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// How many cases ran.
    pub cases: usize,
    /// The largest absolute difference of any output element; infinite where one of two elements is NaN.
    pub max_error: f64,
    /// In how many cases the first output is largest where the reference is.
    pub same_prediction: usize,
    /// In how many cases the first output is largest at the label; `None` without labels.
    pub correct: Option<usize>,
    /// In how many cases the first reference output is; `None` without labels.
    pub reference_correct: Option<usize>,
}

impl Judgement {
    /// The share of correct predictions; `None` without labels.
    pub fn accuracy(&self) -> Option<f64> {
        self.correct.map(|correct| correct as f64 / self.cases.max(1) as f64)
    }

    /// Right answers of the reference, and of the binary; `None` without labels.
    pub fn answers(&self) -> Option<Answers> {
        Some(Answers { cases: self.cases, before: self.reference_correct?, after: self.correct? })
    }
}

/// Compares every `<prefix><n>` of the reference with `output_<n>`.
///
/// # Errors
/// Files that do not fit together.
pub fn judge(outputs: &[u8], reference: &[u8], (prefix, labels): (&str, &str)) -> Result<Judgement, Diagnostic> {
    let outputs = verify_data::parse(outputs)?;
    let reference = verify_data::parse(reference)?;
    let mut judgement =
        Judgement { cases: 0, max_error: 0.0, same_prediction: 0, correct: None, reference_correct: None };
    for (name, got) in &outputs.tensors {
        let index = name.strip_prefix("output_").unwrap_or(name);
        let expected_name = format!("{prefix}{index}");
        let expected = reference.tensors.get(&expected_name).ok_or_else(|| missing(&reference, &expected_name))?;
        let expected = Rows::new(expected);
        // The rows are those of the reference: firmware reports a case of several rows as one.
        let got = Rows { numbers: numbers(got), width: expected.width };
        let error = got.max_difference(&expected).ok_or_else(|| shapes(name))?;
        judgement.max_error = judgement.max_error.max(error);
        if index == "0" {
            judge_predictions(&mut judgement, &got, &expected, reference.tensors.get(labels));
        }
    }
    Ok(judgement)
}

fn judge_predictions(judgement: &mut Judgement, got: &Rows, expected: &Rows, labels: Option<&TensorView<'_>>) {
    let (got, expected) = (got.predictions(), expected.predictions());
    judgement.cases = got.len();
    judgement.same_prediction = got.iter().zip(&expected).filter(|(got, expected)| got == expected).count();
    let labels = labels.map(numbers);
    let right = |found: &[usize]| {
        let pairs = found.iter().zip(labels.as_ref()?);
        Some(pairs.filter(|(found, label)| **found as f64 == **label).count())
    };
    (judgement.correct, judgement.reference_correct) = (right(&got), right(&expected));
}

/// A tensor as rows of numbers, one row per case.
struct Rows {
    numbers: Vec<f64>,
    width: usize,
}

impl Rows {
    fn new(view: &TensorView<'_>) -> Self {
        let width = view.shape.iter().skip(1).product::<usize>().max(1);
        Self { numbers: numbers(view), width }
    }

    fn max_difference(&self, other: &Self) -> Option<f64> {
        let pairs = self.numbers.iter().zip(&other.numbers);
        let largest = pairs.map(|(left, right)| difference(*left, *right)).fold(0.0, f64::max);
        (self.numbers.len() == other.numbers.len()).then_some(largest)
    }

    /// The position of the largest number of each row, the first of equals.
    fn predictions(&self) -> Vec<usize> {
        self.numbers.chunks(self.width).map(argmax).collect()
    }
}

fn difference(left: f64, right: f64) -> f64 {
    match (left.is_nan(), right.is_nan()) {
        (true, true) => 0.0,
        (false, false) if left == right => 0.0,
        (false, false) => (left - right).abs(),
        _ => f64::INFINITY,
    }
}

fn argmax(row: &[f64]) -> usize {
    let better = |best: usize, (index, value): (usize, &f64)| if *value > row[best] { index } else { best };
    row.iter().enumerate().fold(0, better)
}

fn numbers(view: &TensorView<'_>) -> Vec<f64> {
    // Real and imaginary parts of complex numbers are compared as numbers of their own.
    let part = match view.scalar_type {
        ScalarType::ComplexFloat => ScalarType::Float,
        ScalarType::ComplexDouble => ScalarType::Double,
        real => real,
    };
    view.bytes.chunks_exact(part.size()).map(reader(part)).collect()
}

/// How to read an element of this type.
fn reader(scalar_type: ScalarType) -> fn(&[u8]) -> f64 {
    fn word(bytes: &[u8]) -> u64 {
        bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
    }
    match scalar_type {
        ScalarType::Byte | ScalarType::Bool => |bytes| word(bytes) as f64,
        ScalarType::Char => |bytes| f64::from(word(bytes) as i8),
        ScalarType::Short => |bytes| f64::from(word(bytes) as i16),
        ScalarType::Int => |bytes| f64::from(word(bytes) as i32),
        ScalarType::Long => |bytes| word(bytes) as i64 as f64,
        ScalarType::Half => |bytes| f64::from(et_core::Half(word(bytes) as u16).to_f32()),
        ScalarType::Float => |bytes| f64::from(f32::from_bits(word(bytes) as u32)),
        ScalarType::Double | ScalarType::ComplexFloat | ScalarType::ComplexDouble => {
            |bytes| f64::from_bits(word(bytes))
        }
        ScalarType::BFloat16 => |bytes| f64::from(et_core::BFloat16(word(bytes) as u16).to_f32()),
    }
}

fn missing(reference: &SafeTensors<'_>, name: &str) -> Diagnostic {
    let names: BTreeMap<&String, ()> = reference.tensors.keys().map(|name| (name, ())).collect();
    let message = format!("the verification data has no reference output `{name}`");
    let list: Vec<&str> = names.keys().map(|name| name.as_str()).collect();
    Diagnostic::error(Code::InputsMismatch, message).help(format!("it has {}", list.join(", ")))
}

fn shapes(name: &str) -> Diagnostic {
    Diagnostic::error(Code::InputsMismatch, format!("`{name}` has another number of elements than its reference"))
}

#[cfg(test)]
mod tests {
    use et_module::Array;
    use et_module::safetensors;

    use super::*;

    fn file(tensors: &[(&str, ScalarType, Vec<usize>, Vec<u8>)]) -> Vec<u8> {
        let arrays = tensors.iter().map(|(name, scalar_type, shape, bytes)| {
            let array = Array { scalar_type: *scalar_type, shape: shape.clone(), bytes: bytes.clone() };
            ((*name).to_owned(), array)
        });
        let mut bytes = Vec::new();
        safetensors::write(&arrays.collect(), &mut bytes).unwrap();
        bytes
    }

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn a_case_of_several_rows_has_a_prediction_for_each() {
        let row: Vec<u8> = [0_i8, 1, 5, 3].map(i8::cast_unsigned).to_vec();
        let got = file(&[("output_0", ScalarType::Char, vec![1, 4], row.clone())]);
        let reference = file(&[("output_0", ScalarType::Char, vec![2, 2], row)]);
        let found = judge(&got, &reference, ("output_", "labels")).unwrap();
        assert_eq!((found.cases, found.same_prediction, found.max_error), (2, 2, 0.0));
    }

    #[test]
    fn errors_predictions_and_labels_are_counted() {
        let got = file(&[("output_0", ScalarType::Float, vec![2, 2], floats(&[0.5, 1.0, 3.0, 2.0]))]);
        let labels: Vec<u8> = [1_i64, 1].iter().flat_map(|label| label.to_le_bytes()).collect();
        let reference = file(&[
            ("output_0", ScalarType::Float, vec![2, 2], floats(&[0.75, 1.0, 2.0, 2.5])),
            ("labels", ScalarType::Long, vec![2], labels),
        ]);
        let judgement = judge(&got, &reference, ("output_", "labels")).unwrap();
        assert_eq!(
            judgement,
            Judgement { cases: 2, max_error: 1.0, same_prediction: 1, correct: Some(1), reference_correct: Some(2) }
        );
    }

    #[test]
    fn a_lone_nan_is_an_infinite_error() {
        let got = file(&[("output_0", ScalarType::Float, vec![1, 1], floats(&[f32::NAN]))]);
        let reference = file(&[("output_0", ScalarType::Float, vec![1, 1], floats(&[1.0]))]);
        assert_eq!(judge(&got, &reference, ("output_", "labels")).unwrap().max_error, f64::INFINITY);
        assert_eq!(judge(&got, &got, ("output_", "labels")).unwrap().max_error, 0.0);
    }

    #[test]
    fn a_missing_reference_is_an_error() {
        let got = file(&[("output_0", ScalarType::Float, vec![1], floats(&[1.0]))]);
        let reference = file(&[("x", ScalarType::Float, vec![1], floats(&[1.0]))]);
        assert_eq!(judge(&got, &reference, ("output_", "labels")).unwrap_err().code, Code::InputsMismatch);
    }
}
