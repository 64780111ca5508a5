//! `exp`: Cody and Waite's reduction by multiples of ln 2, and the Taylor series of the remainder.
//!
//! Within 1 ulp in `f32`, 1.5 in `f64` and for subnormal results.

use super::Format;

/// The constants of the reduction and the series.
pub trait Exp: Format {
    /// 1 / ln 2.
    const LOG2_E: Self;
    /// ln 2, truncated so that the product with any exponent is exact.
    const LN_2_HIGH: Self;
    /// The rest of ln 2.
    const LN_2_LOW: Self;
    /// From here on the result is infinite.
    const OVERFLOW: Self;
    /// Below this the result is 0.
    const UNDERFLOW: Self;
    /// 1/2!, 1/3!, ...
    const TERMS: &'static [Self];
}

impl Exp for f32 {
    const LOG2_E: Self = core::f32::consts::LOG2_E;
    const LN_2_HIGH: Self = 0.693_145_75;
    const LN_2_LOW: Self = 1.428_606_8e-6;
    const OVERFLOW: Self = 88.722_84;
    const UNDERFLOW: Self = -104.0;
    const TERMS: &'static [Self] = &[1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0];
}

impl Exp for f64 {
    const LOG2_E: Self = core::f64::consts::LOG2_E;
    const LN_2_HIGH: Self = 0.693_147_180_559_890_3;
    const LN_2_LOW: Self = 5.497_923_018_708_371e-14;
    const OVERFLOW: Self = 709.782_712_893_384_1;
    const UNDERFLOW: Self = -746.0;
    const TERMS: &'static [Self] = &[
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5_040.0,
        1.0 / 40_320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
        1.0 / 39_916_800.0,
        1.0 / 479_001_600.0,
        1.0 / 6_227_020_800.0,
    ];
}

/// `e^x`.
pub fn exp<F: Exp>(x: F) -> F {
    exp_of_sum(x, F::ZERO)
}

/// `e^(x + tail)`, where `tail` is so small that only `x` decides the range.
pub fn exp_of_sum<F: Exp>(x: F, tail: F) -> F {
    if x < F::UNDERFLOW {
        return F::ZERO;
    }
    if x > F::OVERFLOW || x.is_nan() {
        return x + F::HIGHEST;
    }
    let (exponent, rest) = reduced(x, tail);
    (F::ONE + rest).scaled(exponent)
}

/// `e^x / 2` for `x >= 0`, which is finite for somewhat greater `x` than `e^x`.
pub fn half_exp<F: Exp>(x: F) -> F {
    if x > F::OVERFLOW + F::ONE || x.is_nan() {
        return x + F::HIGHEST;
    }
    let (exponent, rest) = reduced(x, F::ZERO);
    (F::ONE + rest).scaled(exponent - 1)
}

/// `(k, w)` with `e^(x + tail) = (1 + w) 2^k` and `1 + w` between `sqrt(1/2)` and `sqrt(2)`.
pub fn reduced<F: Exp>(x: F, tail: F) -> (i32, F) {
    let exponent = (x * F::LOG2_E + F::HALF.with_sign_of(x)).to_i32();
    let count = F::from_i32(exponent);
    let rest = (x - count * F::LN_2_HIGH) + (tail - count * F::LN_2_LOW);
    (exponent, rest + rest * rest * rest.polynomial(F::TERMS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::test::{spread, worst32, worst64};

    #[test]
    fn error_bounds() {
        let (error, at) = worst32(&spread(1e-9, 87.0), exp, f64::exp);
        assert!(error <= 1.0, "{error} ulp at {at}");
        let (error, at) = worst32(&spread(87.0, 104.5), exp, f64::exp);
        assert!(error <= 1.5, "{error} ulp at {at}");
        let (error, at) = worst64(&spread(1e-18, 745.5), exp, f64::exp);
        assert!(error <= 1.5, "{error} ulp at {at}");
    }

    #[test]
    fn special_values() {
        assert_eq!(exp(0.0_f32), 1.0);
        assert_eq!(exp(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert!(exp(f32::NAN).is_nan());
        assert_eq!(exp(88.722_85_f32), f32::INFINITY);
        assert!(exp(88.722_83_f32).is_finite());
        assert_eq!(exp(709.79_f64), f64::INFINITY);
        assert_eq!(exp(-745.1_f64), f64::from_bits(1));
    }
}
