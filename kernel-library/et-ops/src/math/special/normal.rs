//! The complementary error function, the normal distribution, and their inverses.
//!
//! A continued fraction for large numbers, else [`Math::erf`]; inverses by Halley's method. Source: DLMF, chapter 7.

use core::f64::consts::{FRAC_1_SQRT_2, LN_2, PI};

use crate::math::Math;

/// `1 / sqrt(pi)`.
const INVERSE_ROOT_PI: f64 = 0.564_189_583_547_756_3;

/// `1 - erf(x)` without cancellation.
pub fn erfc(x: f64) -> f64 {
    if x < 1.0 { 1.0 - Math::erf(x) } else { erfcx(x) * Math::exp(-x * x) }
}

/// `exp(x^2) erfc(x)`.
pub fn erfcx(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x < 1.0 {
        return Math::exp(x * x) * erfc(x);
    }
    if x > 1e8 {
        return INVERSE_ROOT_PI / x;
    }
    // From the end of the fraction x + 1/2 / (x + 2/2 / (x + 3/2 / ...)).
    let count = 20 + (200.0 / (x * x)) as u32;
    let fraction = (1..=count).rev().fold(x, |behind, k| x + f64::from(k) / 2.0 / behind);
    INVERSE_ROOT_PI / fraction
}

/// The normal distribution: the probability of at most `x`.
pub fn ndtr(x: f64) -> f64 {
    0.5 * erfc(-x * FRAC_1_SQRT_2)
}

/// `ln ndtr(x)`.
pub fn log_ndtr(x: f64) -> f64 {
    let at = x * FRAC_1_SQRT_2;
    if x < -1.0 { Math::ln(erfcx(-at)) - LN_2 - at * at } else { Math::ln_1p(-0.5 * erfc(at)) }
}

/// The `x` with this [`ndtr`]: NaN outside of 0 to 1.
pub fn ndtri(probability: f64) -> f64 {
    match probability {
        0.0 => f64::NEG_INFINITY,
        1.0 => f64::INFINITY,
        low if low > 0.0 && low <= 0.5 => quantile(low),
        high if high > 0.5 && high < 1.0 => -quantile(1.0 - high),
        _ => f64::NAN,
    }
}

/// The `x` with this [`Math::erf`]: NaN outside of -1 to 1.
pub fn erfinv(y: f64) -> f64 {
    let size = y.abs();
    if size > 0.5 {
        let value = if size == 1.0 { f64::INFINITY } else { ndtri((1.0 - size) / 2.0).abs() * FRAC_1_SQRT_2 };
        return value.copysign(y);
    }
    let slope = 2.0 * INVERSE_ROOT_PI;
    (0..4).fold(y / slope, |x, _| {
        let step = (Math::erf(x) - y) / (slope * Math::exp(-x * x));
        x - step / (1.0 + x * step)
    })
}

/// [`ndtri`] of a number up to 0.5: the leading term of the tail, then Halley's method on the logarithm.
fn quantile(probability: f64) -> f64 {
    let target = Math::ln(probability);
    let tail = Math::sqrt(-2.0 * (target + LN_2) + 1e-30);
    let mut x = -tail;
    for _ in 0..60 {
        // ln ndtr is concave, so Newton's method from the left never overshoots.
        let at = -x * FRAC_1_SQRT_2;
        let ratio = erfcx(at) * Math::sqrt(PI / 2.0);
        let step = (log_ndtr(x) - target) * ratio;
        x -= step;
        if step.abs() <= 1e-15 * x.abs().max(1e-3) {
            break;
        }
    }
    x
}
