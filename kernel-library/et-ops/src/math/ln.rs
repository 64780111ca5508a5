//! `ln` and `ln_1p`: the exponent times ln 2 plus the area hyperbolic tangent series of the fraction.
//!
//! With `f = m - 1` and `s = f / (2 + f)`, `ln m = 2 artanh s = f - f^2/2 + s (f^2/2 + R)`, where
//! `R = 2 (s^2/3 + s^4/5 + ...)`: the large terms are exact, so rounding errors stay small.
//! Within 1 ulp in `f32`, 1.5 in `f64`.

use super::exp::Exp;

/// 2/3, 2/5, 2/7, ...
pub trait Ln: Exp {
    /// The coefficients, up to the precision of the format.
    const TERMS: &'static [Self];
}

impl Ln for f32 {
    const TERMS: &'static [Self] = &[2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0];
}

impl Ln for f64 {
    const TERMS: &'static [Self] = &[
        2.0 / 3.0,
        2.0 / 5.0,
        2.0 / 7.0,
        2.0 / 9.0,
        2.0 / 11.0,
        2.0 / 13.0,
        2.0 / 15.0,
        2.0 / 17.0,
        2.0 / 19.0,
        2.0 / 21.0,
    ];
}

/// The natural logarithm of `x`; NaN for negative numbers.
pub fn ln<F: Ln>(x: F) -> F {
    if x.is_nan() || x == F::HIGHEST {
        return x;
    }
    if x <= F::ZERO {
        return if x == F::ZERO { F::LOWEST } else { F::NAN };
    }
    let (fraction, exponent) = x.normalize();
    of_parts(fraction - F::ONE, exponent, F::ZERO)
}

/// `ln(1 + x)` without cancellation near 0; NaN below -1.
pub fn ln_1p<F: Ln>(x: F) -> F {
    if x.is_nan() || x == F::HIGHEST || x == F::ZERO {
        return x;
    }
    if x <= -F::ONE {
        return if x == -F::ONE { F::LOWEST } else { F::NAN };
    }
    let sum = F::ONE + x;
    match sum.normalize() {
        (_, 0) => of_parts(x, 0, F::ZERO),
        (fraction, exponent) => {
            let lost = if x < F::ONE { x - (sum - F::ONE) } else { F::ONE - (sum - x) };
            of_parts(fraction - F::ONE, exponent, lost / sum)
        }
    }
}

/// `ln(1 + f) + exponent ln 2 + rest`, where `rest` is tiny.
fn of_parts<F: Ln>(f: F, exponent: i32, rest: F) -> F {
    let s = f / (F::TWO + f);
    let square = s * s;
    let series = square * square.polynomial(<F as Ln>::TERMS);
    let half = F::HALF * f * f;
    let count = F::from_i32(exponent);
    count * F::LN_2_HIGH - ((half - (s * (half + series) + (count * F::LN_2_LOW + rest))) - f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::test::{spread, worst32, worst64};

    #[test]
    fn error_bounds() {
        for (low, high) in [(0.5, 2.0), (1e-45, 3e38)] {
            let (error, at) = worst32(&spread(low, high), ln, f64::ln);
            assert!(error <= 1.0, "{error} ulp at {at}");
        }
        for (low, high) in [(0.5, 2.0), (1e-323, 1e308)] {
            let (error, at) = worst64(&spread(low, high), ln, f64::ln);
            assert!(error <= 1.5, "{error} ulp at {at}");
        }
    }

    #[test]
    fn error_bounds_next_to_0() {
        let above_minus_1 = |x: &f64| *x > -0.999_999;
        for (low, high) in [(1e-30, 2.0), (1e-5, 1e30)] {
            let inputs: std::vec::Vec<f64> = spread(low, high).into_iter().filter(above_minus_1).collect();
            let (error, at) = worst32(&inputs, ln_1p, f64::ln_1p);
            assert!(error <= 1.0, "{error} ulp at {at}");
            let (error, at) = worst64(&inputs, ln_1p, f64::ln_1p);
            assert!(error <= 1.5, "{error} ulp at {at}");
        }
    }

    #[test]
    fn special_values_next_to_0() {
        assert_eq!(ln_1p(-0.0_f32).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(ln_1p(-1.0_f64), f64::NEG_INFINITY);
        assert_eq!(ln_1p(f32::INFINITY), f32::INFINITY);
        assert!(ln_1p(-1.5_f32).is_nan() && ln_1p(f32::NEG_INFINITY).is_nan() && ln_1p(f64::NAN).is_nan());
    }

    #[test]
    fn special_values() {
        assert_eq!(ln(1.0_f32).to_bits(), 0);
        assert_eq!(ln(-0.0_f32), f32::NEG_INFINITY);
        assert_eq!(ln(f32::INFINITY), f32::INFINITY);
        assert!(ln(-1.0_f32).is_nan());
        assert!(ln(f32::NAN).is_nan());
    }
}
