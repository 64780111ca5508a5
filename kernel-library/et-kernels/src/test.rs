//! What the tests of kernels share: numbers, and a comparison of results.

use std::vec::Vec;

/// Numbers between -1 and 1 that look random and are always the same ones.
pub fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    core::iter::repeat_with(next).take(count).collect()
}

/// Bytes that look random and are always the same ones.
pub fn bytes(count: usize, seed: u32) -> Vec<i8> {
    numbers(count, seed).into_iter().map(|number| (number * 127.9) as i8).collect()
}

/// Fails if any number differs from the expected one by more than `tolerance`, relative to it where it is above 1.
pub fn assert_close(what: &str, actual: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        let error = (f64::from(*actual) - expected).abs();
        let close = error <= tolerance * expected.abs().max(1.0) || f64::from(*actual) == *expected;
        assert!(close, "{what}: element {index} is {actual}, not {expected}");
    }
}

/// Fails if any byte differs from the expected one by more than 1, or more than one in a hundred and one differ at all.
pub fn assert_nearly_equal(what: &str, actual: &[i8], expected: &[i8]) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    let distance = |(actual, expected): (&i8, &i8)| i32::from(*actual).abs_diff(i32::from(*expected));
    assert!(actual.iter().zip(expected).map(distance).all(|distance| distance <= 1), "{what}");
    let different = actual.iter().zip(expected).filter(|(actual, expected)| actual != expected).count();
    assert!(different <= 1 + actual.len() / 100, "{what}: {different} of {} differ", actual.len());
}
