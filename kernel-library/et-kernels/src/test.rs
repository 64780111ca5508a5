//! Helpers of the kernel tests: sample data and comparison of results.

use std::vec;
use std::vec::Vec;

use et_core::Result;
use et_simd::Level;

/// Reproducible pseudo-random `f32` between -1 and 1.
pub fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    core::iter::repeat_with(next).take(count).collect()
}

/// Reproducible pseudo-random int8.
pub fn bytes(count: usize, seed: u32) -> Vec<i8> {
    numbers(count, seed).into_iter().map(|number| (number * 127.9) as i8).collect()
}

/// Fails unless `run` computes the expected elements with every ISA.
pub fn check(what: &str, expected: &[f64], tolerance: f64, run: impl Fn(Level, &mut [f32]) -> Result<()>) {
    for level in Level::available() {
        let mut output = vec![9.0; expected.len()];
        run(level, &mut output).unwrap();
        assert_close(&std::format!("{what} with {}", level.name()), &output, expected, tolerance);
    }
}

/// Fails if a value differs from the expected value by more than `tolerance`, relative for magnitudes above 1.
pub fn assert_close(what: &str, actual: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        let error = (f64::from(*actual) - expected).abs();
        let close = error <= tolerance * expected.abs().max(1.0) || f64::from(*actual) == *expected;
        assert!(close, "{what}: element {index} is {actual}, not {expected}");
    }
}

/// Fails if an int8 differs from the expected value by more than 1, or if more than 1 % of the values differ.
pub fn assert_nearly_equal(what: &str, actual: &[i8], expected: &[i8]) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    let distance = |(actual, expected): (&i8, &i8)| i32::from(*actual).abs_diff(i32::from(*expected));
    assert!(actual.iter().zip(expected).map(distance).all(|distance| distance <= 1), "{what}");
    let different = actual.iter().zip(expected).filter(|(actual, expected)| actual != expected).count();
    assert!(different <= 1 + actual.len() / 100, "{what}: {different} of {} differ", actual.len());
}
