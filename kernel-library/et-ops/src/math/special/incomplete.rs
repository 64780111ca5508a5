//! The regularized incomplete gamma functions.
//!
//! A series below the peak, a continued fraction above; for orders from `LARGE` on, Temme's uniform expansion with two
//! terms. Source: DLMF, sections 8.9, 8.11 and 8.12.

use core::f64::consts::TAU;

use super::gamma::ln_gamma;
use super::normal::erfc;
use crate::math::Math;

/// From here on the uniform expansion is used.
const LARGE: f64 = 1e6;

/// `P(a, x)`: NaN for negative numbers.
pub fn lower(a: f64, x: f64) -> f64 {
    both(a, x)[0]
}

/// `Q(a, x) = 1 - P(a, x)`.
pub fn upper(a: f64, x: f64) -> f64 {
    both(a, x)[1]
}

fn both(a: f64, x: f64) -> [f64; 2] {
    if a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 {
        return [f64::NAN; 2];
    }
    match (a, x) {
        (0.0, x) => {
            if x > 0.0 {
                [1.0, 0.0]
            } else {
                [f64::NAN; 2]
            }
        }
        (_, 0.0) => [0.0, 1.0],
        (f64::INFINITY, f64::INFINITY) => [f64::NAN; 2],
        (f64::INFINITY, _) => [0.0, 1.0],
        (_, f64::INFINITY) => [1.0, 0.0],
        (a, x) if a > LARGE => uniform(a, x),
        (a, x) if x < a + 1.0 => {
            let low = series(a, x);
            [low, 1.0 - low]
        }
        (a, x) => {
            let high = fraction(a, x);
            [1.0 - high, high]
        }
    }
}

/// `x^a exp(-x) / gamma(a)`.
fn weight(a: f64, x: f64) -> f64 {
    Math::exp(a * Math::ln(x) - x - ln_gamma(a))
}

fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut at) = (1.0 / a, 1.0 / a, a);
    while term > sum * 1e-17 {
        at += 1.0;
        term *= x / at;
        sum += term;
    }
    sum * weight(a, x)
}

/// The continued fraction from the front, by the recurrences of numerators and denominators as ratios (Lentz).
fn fraction(a: f64, x: f64) -> f64 {
    let mut below = x + 1.0 - a;
    let (mut ratio, mut inverse) = (1e300, 1.0 / below);
    let mut value = inverse;
    for k in 1..200_000 {
        let k = f64::from(k);
        let partial = k * (a - k);
        below += 2.0;
        inverse = 1.0 / (partial * inverse + below);
        ratio = below + partial / ratio;
        let factor = ratio * inverse;
        value *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value * weight(a, x)
}

fn uniform(a: f64, x: f64) -> [f64; 2] {
    let relative = (x - a) / a;
    // Half of the square of eta, without cancellation near the peak.
    let half = if relative.abs() < 1e-3 {
        relative * relative * (0.5 - relative * (1.0 / 3.0 - relative * (0.25 - relative * 0.2)))
    } else {
        relative - Math::ln_1p(relative)
    };
    let eta = Math::sqrt(2.0 * half).copysign(relative);
    let correction = if eta.abs() < 1e-3 { -1.0 / 3.0 + eta / 12.0 } else { 1.0 / relative - 1.0 / eta };
    let rest = Math::exp(-a * half) / Math::sqrt(TAU * a) * correction;
    let scaled = eta * Math::sqrt(a / 2.0);
    [0.5 * erfc(-scaled) - rest, 0.5 * erfc(scaled) + rest]
}
