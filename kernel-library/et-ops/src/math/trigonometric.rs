//! `sin`, `cos` and `tan`: reduction to `[-pi/4, pi/4]`, then Taylor series.
//!
//! Within 1 ulp for angles of any size; `tan`, their quotient, within 2.5.

use super::Format;
use super::reduce::{Reduced, reduce};

/// The series in powers of the square of the angle.
pub trait Trigonometric: Format {
    /// -1/3!, 1/5!, ...
    const SINE: &'static [Self];
    /// 1/4!, -1/6!, ...
    const COSINE: &'static [Self];
}

impl Trigonometric for f32 {
    const SINE: &'static [Self] = &[-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362_880.0];
    const COSINE: &'static [Self] = &[1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0, -1.0 / 3_628_800.0];
}

impl Trigonometric for f64 {
    const SINE: &'static [Self] = &[
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5040.0,
        1.0 / 362_880.0,
        -1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 1_307_674_368_000.0,
        1.0 / 355_687_428_096_000.0,
    ];
    const COSINE: &'static [Self] = &[
        1.0 / 24.0,
        -1.0 / 720.0,
        1.0 / 40_320.0,
        -1.0 / 3_628_800.0,
        1.0 / 479_001_600.0,
        -1.0 / 87_178_291_200.0,
        1.0 / 20_922_789_888_000.0,
        -1.0 / 6_402_373_705_728_000.0,
    ];
}

/// The sine of `x` radians; NaN for infinities.
pub fn sin<F: Trigonometric>(x: F) -> F {
    rotated(x, 0)
}

/// The cosine of `x` radians; NaN for infinities.
pub fn cos<F: Trigonometric>(x: F) -> F {
    rotated(x, 1)
}

/// The tangent of `x` radians; NaN for infinities.
pub fn tan<F: Trigonometric>(x: F) -> F {
    if x.is_nan() || x.magnitude() == F::HIGHEST {
        return F::NAN;
    }
    let angle = reduce(x);
    let (sine, cosine) = (sine(&angle), cosine(&angle));
    if angle.quadrant & 1 == 0 { sine / cosine } else { -cosine / sine }
}

/// The sine of `x + turn pi/2`.
fn rotated<F: Trigonometric>(x: F, turn: u32) -> F {
    if x.is_nan() || x.magnitude() == F::HIGHEST {
        return F::NAN;
    }
    let angle = reduce(x);
    match (angle.quadrant + turn) & 3 {
        0 => sine(&angle),
        1 => cosine(&angle),
        2 => -sine(&angle),
        _ => -cosine(&angle),
    }
}

/// `sin(high) + low cos(high)`.
fn sine<F: Trigonometric>(angle: &Reduced<F>) -> F {
    let square = angle.high * angle.high;
    let correction = angle.low * (F::ONE - F::HALF * square);
    let series = angle.high * (square * square.polynomial(F::SINE));
    (angle.high + (series + correction)).with_sign_of(angle.high)
}

/// `cos(high) - low sin(high)`; the rounding error of `1 - high^2/2` is added back.
fn cosine<F: Trigonometric>(angle: &Reduced<F>) -> F {
    let square = angle.high * angle.high;
    let half = F::HALF * square;
    let main = F::ONE - half;
    let rest = square * square * square.polynomial(F::COSINE) - angle.high * angle.low;
    main + (((F::ONE - main) - half) + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::test::{spread, worst32, worst64};

    #[test]
    fn error_bounds() {
        for (low, high) in [(1e-30, 4.0), (1.0, 1e4), (1e4, 3e38)] {
            let (error, at) = worst32(&spread(low, high), sin, f64::sin);
            assert!(error <= 1.0, "{error} ulp at sin {at}");
            let (error, at) = worst32(&spread(low, high), cos, f64::cos);
            assert!(error <= 1.0, "{error} ulp at cos {at}");
        }
        for (low, high) in [(1e-300, 4.0), (1.0, 1e4), (1e4, 1e308)] {
            let (error, at) = worst64(&spread(low, high), sin, f64::sin);
            assert!(error <= 1.0, "{error} ulp at sin {at}");
            let (error, at) = worst64(&spread(low, high), cos, f64::cos);
            assert!(error <= 1.0, "{error} ulp at cos {at}");
        }
    }

    #[test]
    fn error_bounds_of_tangents() {
        for (low, high) in [(1e-30, 4.0), (1.0, 1e4), (1e4, 3e38)] {
            let (error, at) = worst32(&spread(low, high), tan, f64::tan);
            assert!(error <= 2.5, "{error} ulp at tan {at}");
            let (error, at) = worst64(&spread(low, high), tan, f64::tan);
            assert!(error <= 2.5, "{error} ulp at tan {at}");
        }
    }

    #[test]
    fn angles_next_to_multiples_of_half_pi_keep_their_precision() {
        // The `f64` nearest to a multiple of pi/2 relative to its magnitude: 6381956970095103 * 2^797.
        let angle = 6_381_956_970_095_103.0 * 2.0_f64.powi(797);
        assert!((cos(angle) / -4.687_165_924_254_628e-19 - 1.0).abs() < 1e-15, "{:e}", cos(angle));
    }

    #[test]
    fn special_values() {
        assert_eq!(sin(-0.0_f32).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(cos(0.0_f64), 1.0);
        assert_eq!(tan(-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert!(sin(f32::INFINITY).is_nan() && tan(f32::INFINITY).is_nan() && tan(f64::NAN).is_nan());
        assert!(cos(f64::NAN).is_nan());
    }
}
