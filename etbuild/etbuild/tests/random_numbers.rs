//! Random operators: each node and each execution draws numbers of its own, with the moments that PyTorch documents, and a seed decides all of
//! them. Needs `ETBUILD_TEST_PYTHON`, a Python with torch; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use et_core::{Half, ScalarType};
use et_module::{Array, Module, TensorView};

use crate::conformance::case::Laboratory;
use crate::support;

/// The elements of an input of `drawn.pt2`.
const COUNT: usize = 4000;

/// The outputs of `drawn.pt2` with a mean and a standard deviation, and the least and the greatest number that is possible.
const MOMENTS: [(usize, f64, f64, [f64; 2]); 20] = [
    (0, 0.5, 0.2887, [0.0, 0.999_999_99]),
    (1, 0.5, 0.2887, [0.0, 0.999_999_99]),
    (2, 3.5, 0.866, [2.0, 5.0]),
    (3, 0.0, 1.0, [-6.0, 6.0]),
    (4, 0.0, 1.0, [-6.0, 6.0]),
    (5, 0.0, 2.0, [-12.0, 12.0]),
    (6, 3.0, 0.5, [0.0, 6.0]),
    (7, -1.0, 3.0, [-19.0, 17.0]),
    (8, 4.5, 2.872, [0.0, 9.0]),
    (9, 0.0, 2.0, [-3.0, 3.0]),
    (10, 3.5, 1.118, [2.0, 5.0]),
    (12, 0.25, 0.433, [0.0, 1.0]),
    (13, 0.7, 0.4583, [0.0, 1.0]),
    (14, 0.5, 0.5, [1e-9, 10.0]),
    (15, 1.2, 1.249, [0.0, 3.0]),
    (17, 1.0, 0.8165, [0.0, 1.0 / 0.6 + 1e-6]),
    (18, 1.0, 0.5774, [0.0, 4.0 / 3.0 + 1e-6]),
    (20, 0.0, 1.0, [-6.0, 6.0]),
    (22, -0.2, 0.0577, [-0.3, -0.1]),
    (23, 2.0, 1.414, [1.0, 40.0]),
];

/// The archives, written once; `None` without a Python.
fn models() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| support::python::written_by("random_numbers.py", "torch", &[]));
    folder.as_ref().map(tempfile::TempDir::path)
}

fn program(model: &str, options: &[&str]) -> Option<Module> {
    let cache = tempfile::tempdir().unwrap();
    let options = [&["partition=[portable]"], options].concat();
    Some(Laboratory::new(cache.path(), &options).module(&models()?.join(model)).unwrap())
}

/// The outputs of the next execution, in order.
fn execute(module: &mut Module, shape: &[usize]) -> Vec<Array> {
    let bytes: Vec<u8> = (0..shape.iter().product()).flat_map(|_| 0_f32.to_le_bytes()).collect();
    let input = TensorView { scalar_type: ScalarType::Float, shape: shape.to_vec(), bytes: &bytes };
    let mut outputs: Vec<_> =
        module.run(&[("a".to_owned(), input)].into_iter().collect()).unwrap().into_iter().collect();
    outputs.sort_by_key(|(name, _)| name.strip_prefix("output_").unwrap().parse::<usize>().unwrap());
    outputs.into_iter().map(|(_, array)| array).collect()
}

fn numbers(array: &Array) -> Vec<f64> {
    let number = |word: &[u8]| match array.scalar_type {
        ScalarType::Float => f32::from_le_bytes(word.try_into().unwrap()).into(),
        ScalarType::Double => f64::from_le_bytes(word.try_into().unwrap()),
        ScalarType::Half => Half(u16::from_le_bytes(word.try_into().unwrap())).to_f32().into(),
        ScalarType::Long => i64::from_le_bytes(word.try_into().unwrap()) as f64,
        _ => f64::from(word[0]),
    };
    array.bytes.chunks_exact(array.scalar_type.size()).map(number).collect()
}

#[test]
fn numbers_have_the_moments_and_the_ranges_of_their_distributions() {
    let Some(mut module) = program("drawn.pt2", &[]) else { return };
    let outputs = execute(&mut module, &[COUNT]);
    for (index, mean, deviation, [least, most]) in MOMENTS {
        let drawn = numbers(&outputs[index]);
        let count = drawn.len() as f64;
        let found = drawn.iter().sum::<f64>() / count;
        let spread = (drawn.iter().map(|number| (number - found).powi(2)).sum::<f64>() / count).sqrt();
        assert!((found - mean).abs() < 5.0 * deviation / count.sqrt(), "output {index} has a mean of {found}");
        assert!((spread / deviation - 1.0).abs() < 0.1, "output {index} deviates by {spread}");
        assert!(drawn.iter().all(|number| (least..=most).contains(number)), "output {index}");
    }
}

#[test]
fn permutations_and_choices_repeat_nothing() {
    let Some(mut module) = program("drawn.pt2", &[]) else { return };
    let outputs = execute(&mut module, &[COUNT]);
    let order = numbers(&outputs[11]);
    let different: BTreeSet<usize> = order.iter().map(|number| *number as usize).collect();
    assert_eq!((different.len(), different.last()), (COUNT, Some(&(COUNT - 1))));
    assert!(order.windows(2).filter(|pair| pair[0] < pair[1]).count() < COUNT * 6 / 10);
    // Of four weights one is 0, so three choices have the rest.
    for row in numbers(&outputs[16]).chunks(3) {
        assert_eq!(row.iter().map(|index| *index as usize).collect::<BTreeSet<_>>(), BTreeSet::from([0, 2, 3]));
    }
    assert!(numbers(&outputs[15]).iter().all(|index| *index != 1.0));
}

#[test]
fn dropout_keeps_whole_channels_and_tells_what_it_kept() {
    let Some(mut module) = program("drawn.pt2", &[]) else { return };
    let outputs = execute(&mut module, &[COUNT]);
    let (kept, mask) = (numbers(&outputs[18]), numbers(&outputs[19]));
    assert!(kept.iter().zip(&mask).all(|(number, kept)| (*number != 0.0) == (*kept != 0.0)));
    let channels = numbers(&outputs[21]);
    assert!(channels.chunks(5).all(|channel| channel.iter().all(|number| number == &channel[0])));
    let kept = channels.chunks(5).filter(|channel| channel[0] == 2.0).count();
    assert!((300..500).contains(&kept), "{kept} of 800 channels stay");
}

#[test]
fn nodes_and_executions_draw_numbers_of_their_own() {
    let Some(mut module) = program("drawn.pt2", &[]) else { return };
    let drawn: Vec<Vec<Array>> = (0..3).map(|_| execute(&mut module, &[COUNT])).collect();
    // `rand` and `rand_like`, `randn` and `randn_like`.
    let alike = drawn.iter().flat_map(|outputs| [&outputs[..2], &outputs[3..5]]);
    for pair in alike {
        assert_ne!(pair[0].bytes, pair[1].bytes);
    }
    for index in 0..drawn[0].len() {
        let first: BTreeSet<&[u8]> = drawn.iter().map(|outputs| &outputs[index].bytes[..]).collect();
        // Three choices of the same three of four weights may have the same order.
        assert!(first.len() == 3 || index == 16, "output {index}");
    }
}

#[test]
fn passes_of_loops_draw_numbers_of_their_own() {
    let Some(mut module) = program("looped.pt2", &[]) else { return };
    let mut rows: Vec<Vec<u8>> = Vec::new();
    for _ in 0..3 {
        let outputs = execute(&mut module, &[6, 20]);
        rows.extend(outputs.iter().flat_map(|output| output.bytes.chunks(20 * 4).map(<[u8]>::to_vec)));
        // The sum of the numbers of three passes.
        let sum = numbers(&outputs[3]).iter().sum::<f64>();
        assert!((20.0..40.0).contains(&sum), "{sum}");
        assert!(numbers(&outputs[0]).iter().all(|number| (0.0..1.0).contains(number)));
    }
    let different: BTreeSet<&Vec<u8>> = rows.iter().collect();
    assert_eq!((rows.len(), different.len()), (3 * (6 + 6 + 6 + 1), 3 * (6 + 6 + 6 + 1)));
}

#[test]
fn a_seed_decides_all_numbers() {
    let runs = |options: &[&str]| {
        let mut module = program("drawn.pt2", options)?;
        Some([execute(&mut module, &[COUNT]), execute(&mut module, &[COUNT])])
    };
    let bytes =
        |[one, two]: [Vec<Array>; 2]| [one, two].concat().into_iter().map(|array| array.bytes).collect::<Vec<_>>();
    let Some(plain) = runs(&[]).map(bytes) else { return };
    assert!(runs(&[]).map(bytes).as_ref() == Some(&plain));
    assert!(runs(&["export.seed=0"]).map(bytes).as_ref() == Some(&plain));
    let other = runs(&["export.seed=18446744073709551615"]).map(bytes).unwrap();
    assert!(other.iter().zip(&plain).all(|(other, plain)| other != plain || plain.len() < 100));
}

#[test]
fn sizes_may_be_dynamic_and_types_narrow() {
    let Some(mut module) = program("mixed.pt2", &[]) else { return };
    for rows in [8, 64, 1] {
        let outputs = execute(&mut module, &[rows, 50]);
        let shapes: Vec<_> = outputs.iter().map(|array| (array.scalar_type, array.shape.clone())).collect();
        let dropped = (ScalarType::Float, vec![rows, 50]);
        assert_eq!(shapes, [(ScalarType::Half, vec![rows, 50]), dropped, (ScalarType::Double, vec![rows, 3])]);
        assert!(numbers(&outputs[0]).iter().all(|number| (0.0..1.0).contains(number)));
    }
}
