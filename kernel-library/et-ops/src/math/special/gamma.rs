//! The logarithm of the gamma function, and the logarithm's derivatives.
//!
//! Recurrence to at least 10, then Stirling's series; reflection for negative numbers. Source: DLMF, chapter 5.

use core::f64::consts::PI;

use super::zeta::zeta;
use crate::math::Math;

/// `B_2k / (2k)` for `k` from 1, with Bernoulli numbers `B`.
const BERNOULLI: [f64; 8] =
    [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0, -3617.0 / 8160.0];
/// Half the logarithm of two pi.
const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

/// `ln |gamma(x)|`: infinite at integers up to 0.
pub fn ln_gamma(x: f64) -> f64 {
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if is_pole(x) {
        return f64::INFINITY;
    }
    if x == 1.0 || x == 2.0 {
        return 0.0;
    }
    if x < 0.5 {
        return Math::ln(PI / sine_of_half_turns(x).abs()) - ln_gamma(1.0 - x);
    }
    let (mut at, mut product) = (x, 1.0);
    while at < 10.0 {
        product *= at;
        at += 1.0;
    }
    let inverse = 1.0 / (at * at);
    let mut power = 1.0 / at;
    let mut sum = 0.0;
    for (index, number) in (0..).zip(BERNOULLI) {
        sum += number * power / f64::from(2 * index + 1);
        power *= inverse;
    }
    (at - 0.5) * Math::ln(at) - at + HALF_LN_TAU + sum - Math::ln(product)
}

/// The derivative of `ln gamma(x)`: NaN at negative integers, infinite at 0.
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if is_pole(x) {
        return f64::NAN;
    }
    if x < 0.0 {
        let turn = x - Math::round_ties_even(x);
        return digamma(1.0 - x) - PI / Math::tan(PI * turn);
    }
    let (mut at, mut sum) = (x, 0.0);
    while at < 10.0 {
        sum -= 1.0 / at;
        at += 1.0;
    }
    if at == f64::INFINITY {
        return at;
    }
    let inverse = 1.0 / (at * at);
    let mut power = inverse;
    for number in BERNOULLI {
        sum -= number * power;
        power *= inverse;
    }
    sum + Math::ln(at) - 0.5 / at
}

/// Derivative `order` of [`digamma`].
pub fn polygamma(order: u32, x: f64) -> f64 {
    if order == 0 {
        return digamma(x);
    }
    let order = f64::from(order);
    let size = Math::exp(ln_gamma(order + 1.0)) * zeta(order + 1.0, x);
    if order % 2.0 == 0.0 { -size } else { size }
}

fn is_pole(x: f64) -> bool {
    x <= 0.0 && Math::floor(x) == x
}

/// `sin(pi x)`, exact for large numbers.
fn sine_of_half_turns(x: f64) -> f64 {
    Math::sin(PI * (x - 2.0 * Math::round_ties_even(x / 2.0)))
}
