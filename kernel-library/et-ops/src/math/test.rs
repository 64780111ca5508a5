//! Comparing a function with the host's.

use std::vec::Vec;

/// Numbers of both signs whose magnitudes are spread over `[low, high]`: evenly, and evenly in their logarithms.
pub fn spread(low: f64, high: f64) -> Vec<f64> {
    const COUNT: usize = 20_000;
    let fractions = (0..=COUNT).map(|step| step as f64 / COUNT as f64);
    let magnitudes = fractions.flat_map(|fraction| [low + (high - low) * fraction, low * (high / low).powf(fraction)]);
    magnitudes.flat_map(|magnitude| [magnitude, -magnitude]).collect()
}

/// The distance between `got` and the exact result in units in the last place of an `f32`; 0 for the nearest number.
pub fn ulps32(got: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if got == nearest || (got.is_nan() && exact.is_nan()) {
        return 0.0;
    }
    let unit = f64::from(nearest.abs().next_up()) - f64::from(nearest.abs());
    ((f64::from(got) - exact) / unit).abs()
}

/// The distance between `got` and the host's result in units in the last place of an `f64`.
pub fn ulps64(got: f64, host: f64) -> f64 {
    if got == host || (got.is_nan() && host.is_nan()) {
        return 0.0;
    }
    ((got - host) / (host.abs().next_up() - host.abs())).abs()
}

/// The largest error of `function` in `f32` over `inputs`, with the input that caused the error.
pub fn worst32(inputs: &[f64], function: impl Fn(f32) -> f32, exact: impl Fn(f64) -> f64) -> (f64, f32) {
    let inputs = inputs.iter().map(|input| *input as f32);
    let errors = inputs.map(|input| (ulps32(function(input), exact(f64::from(input))), input));
    errors.fold((0.0, 0.0), |worst, next| if next.0 > worst.0 || next.0.is_nan() { next } else { worst })
}

/// The largest difference from the host of `function` in `f64` over `inputs`, with the input that caused the
/// difference.
pub fn worst64(inputs: &[f64], function: impl Fn(f64) -> f64, host: impl Fn(f64) -> f64) -> (f64, f64) {
    let errors = inputs.iter().map(|input| (ulps64(function(*input), host(*input)), *input));
    errors.fold((0.0, 0.0), |worst, next| if next.0 > worst.0 || next.0.is_nan() { next } else { worst })
}
