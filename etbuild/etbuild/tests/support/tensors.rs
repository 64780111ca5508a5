//! Tensors in files.

use std::fs;
use std::path::Path;

use et_core::ScalarType;
use et_module::TensorView;
use et_module::safetensors::SafeTensors;
use et_module::{Array, Tolerance, difference as array_difference};

/// The largest difference between any `output_<n>` of two files, which must have the same outputs.
pub fn max_difference(one: &Path, other: &Path) -> f64 {
    let (one, other) = (fs::read(one).unwrap(), fs::read(other).unwrap());
    let (one, other) = (SafeTensors::parse(&one).unwrap(), SafeTensors::parse(&other).unwrap());
    let outputs = |file: &SafeTensors<'_>| -> Vec<String> {
        file.tensors.keys().filter(|name| name.starts_with("output_")).cloned().collect()
    };
    assert_eq!(outputs(&one), outputs(&other));
    let differences = outputs(&one).into_iter().map(|name| difference(&one, &other, &name));
    differences.fold(0.0, f64::max)
}

/// The differences between the tensors and texts of two files.
pub fn differences(got: &Path, wanted: &Path, tolerance: Tolerance) -> Vec<String> {
    let (got, wanted) = (fs::read(got).unwrap(), fs::read(wanted).unwrap());
    let (got, wanted) = (SafeTensors::parse(&got).unwrap(), SafeTensors::parse(&wanted).unwrap());
    assert_eq!(got.metadata, wanted.metadata);
    assert_eq!(got.tensors.keys().collect::<Vec<_>>(), wanted.tensors.keys().collect::<Vec<_>>());
    let pairs = got.tensors.values().zip(&wanted.tensors);
    let found = pairs.filter_map(|(got, (name, wanted))| {
        array_difference(&array(wanted), &array(got), tolerance).map(|found| format!("{name}: {found}"))
    });
    found.collect()
}

/// A tensor of a file.
pub fn tensor(file: &[u8], name: &str) -> Array {
    array(&SafeTensors::parse(file).unwrap().tensors[name])
}

/// Where the elements of a tensor of a file begin.
pub fn start(file: &[u8], name: &str) -> usize {
    SafeTensors::parse(file).unwrap().tensors[name].bytes.as_ptr().addr() - file.as_ptr().addr()
}

/// A file with the first rows of every tensor of another.
pub fn first_cases(path: &Path, count: usize) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    let file = SafeTensors::parse(&bytes).unwrap();
    let first = |view: &TensorView<'_>| {
        let mut array = array(view);
        array.bytes.truncate(array.bytes.len() / array.shape[0] * count);
        array.shape[0] = count;
        array
    };
    let arrays = file.tensors.iter().map(|(name, view)| (name.clone(), first(view))).collect();
    let mut written = Vec::new();
    et_module::safetensors::write(&arrays, &mut written).unwrap();
    written
}

fn array(view: &TensorView<'_>) -> Array {
    Array { scalar_type: view.scalar_type, shape: view.shape.clone(), bytes: view.bytes.to_vec() }
}

/// The position of the largest element of each row of `output_0`.
pub fn predictions(path: &Path) -> Vec<usize> {
    let bytes = fs::read(path).unwrap();
    let file = SafeTensors::parse(&bytes).unwrap();
    let width = file.tensors["output_0"].shape[1];
    numbers(&file, "output_0").chunks(width).map(largest).collect()
}

fn difference(one: &SafeTensors<'_>, other: &SafeTensors<'_>, name: &str) -> f64 {
    let (one, other) = (numbers(one, name), numbers(other, name));
    assert_eq!(one.len(), other.len(), "{name}");
    one.iter().zip(&other).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max)
}

fn largest(row: &[f64]) -> usize {
    (0..row.len()).max_by(|left, right| row[*left].total_cmp(&row[*right])).unwrap()
}

fn numbers(file: &SafeTensors<'_>, name: &str) -> Vec<f64> {
    let tensor = &file.tensors[name];
    match tensor.scalar_type {
        ScalarType::Float => tensor.bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word).into()).collect(),
        ScalarType::Long => tensor.bytes.as_chunks().0.iter().map(|word| i64::from_le_bytes(*word) as f64).collect(),
        other => panic!("{name} is {other:?}"),
    }
}
