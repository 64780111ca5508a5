//! Compares the vectorized functions with double precision, on every ISA of this machine.

use std::ops::Range;
use std::vec::Vec;

use crate::{Level, Simd, Work, math};

struct Apply<'a> {
    function: &'a str,
    input: &'a [f32],
}

impl Work for Apply<'_> {
    type Output = Vec<f32>;
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) -> Vec<f32> {
        let mut output = std::vec![0.0; self.input.len()];
        for at in (0..output.len()).step_by(S::LANES) {
            let x = isa.load(self.input, at);
            let y = match self.function {
                "exp" => math::exp(isa, x),
                "gelu" => math::gelu(isa, x),
                "tanh" => math::tanh(isa, x),
                "sigmoid" => math::sigmoid(isa, x),
                "softplus" => math::softplus(isa, x),
                _ => math::erf(isa, x),
            };
            isa.store(&mut output, at, y);
        }
        output
    }
}

/// Applies the function to the inputs on every ISA.
fn apply(function: &str, input: &[f32]) -> Vec<Vec<f32>> {
    Level::available().map(|level| level.run(Apply { function, input })).collect()
}

/// Fails if the result for any sampled input of the range is more than `units` ULP off.
fn sweep(function: &str, range: Range<f64>, units: f64, expected: fn(f64) -> f64) {
    const COUNT: u32 = 1_000_003;
    let step = (range.end - range.start) / f64::from(COUNT);
    let input: Vec<f32> = (0..COUNT).map(|index| (range.start + step * f64::from(index)) as f32).collect();
    let exact: Vec<f64> = input.iter().map(|x| expected(f64::from(*x))).collect();
    for (level, output) in Level::available().zip(apply(function, &input)) {
        let errors = exact.iter().zip(&output).map(|(exact, output)| units_between(*exact, *output));
        let (worst, x) =
            errors.zip(&input).fold((0.0, 0.0), |worst, (error, x)| if error > worst.0 { (error, *x) } else { worst });
        assert!(worst <= units, "{} {function}({x}): {worst} units", level.name());
    }
}

fn units_between(exact: f64, output: f32) -> f64 {
    let rounded = exact as f32;
    let unit = f64::from(rounded.abs().next_up()) - f64::from(rounded.abs());
    (exact - f64::from(output)).abs() / unit
}

/// The error function: the power series near 0, the continued fraction farther out.
fn error_function(x: f64) -> f64 {
    let square = x * x;
    if x.abs() < 3.0 {
        let (mut term, mut sum) = (x, x);
        for index in 1..100 {
            term *= -square / f64::from(index);
            sum += term / f64::from(2 * index + 1);
        }
        return sum * std::f64::consts::FRAC_2_SQRT_PI;
    }
    let fraction = (1..60).rev().fold(0.0, |rest, index| f64::from(index) / 2.0 / (x.abs() + rest));
    let rest = (-square).exp() / (x.abs() + fraction) / std::f64::consts::PI.sqrt();
    (1.0 - rest).copysign(x)
}

#[test]
fn errors_are_within_the_documented_bounds() {
    sweep("exp", -87.3..88.7, 2.0, f64::exp);
    for range in [-4.5..4.5, -0.01..0.01] {
        sweep("erf", range, 3.0, error_function);
    }
    for range in [-10.0..10.0, -0.01..0.01] {
        sweep("tanh", range, 3.0, f64::tanh);
    }
    sweep("sigmoid", -87.0..87.0, 4.0, |x| 1.0 / (1.0 + (-x).exp()));
    sweep("softplus", -87.0..87.0, 4.0, |x| x.max(0.0) + (-x.abs()).exp().ln_1p());
}

#[test]
fn far_away_exp_is_zero_or_infinite_and_erf_and_tanh_are_one() {
    let numbers = [f32::NEG_INFINITY, -110.0, -88.0, 89.0, 1e30, f32::INFINITY, f32::NAN, 0.0];
    for result in apply("exp", &numbers) {
        assert_eq!(result[..6], [0.0, 0.0, 0.0, f32::INFINITY, f32::INFINITY, f32::INFINITY]);
        assert!(result[6].is_nan() && result[7] == 1.0);
    }
    for result in ["erf", "tanh"].into_iter().flat_map(|function| apply(function, &numbers)) {
        assert_eq!(result[..6], [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]);
        assert!(result[6].is_nan() && result[7] == 0.0);
    }
}

#[test]
fn gelu_is_a_share_of_the_number() {
    let input: Vec<f32> = (-200_000..200_000).map(|index| index as f32 * 4.3e-5).collect();
    for results in apply("gelu", &input) {
        for (x, result) in input.iter().zip(results) {
            let exact = f64::from(*x) * 0.5 * (1.0 + error_function(f64::from(*x) / std::f64::consts::SQRT_2));
            let error = (exact - f64::from(result)).abs();
            assert!(error <= 1.5e-7 * f64::from(x.abs().max(1.0)), "{x}: {result}, not {exact}");
        }
    }
}

#[test]
fn far_away_gelu_is_the_number_or_nearly_zero() {
    for results in apply("gelu", &[f32::INFINITY, 1e30, f32::NAN, 0.0, f32::NEG_INFINITY, -1e30]) {
        assert_eq!(results[..2], [f32::INFINITY, 1e30]);
        assert!(results[2].is_nan());
        assert_eq!(results[3], 0.0);
        assert!(results[4..].iter().all(|result| result.abs() < 1.5e-7));
    }
}
