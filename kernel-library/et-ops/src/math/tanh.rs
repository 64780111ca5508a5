//! `tanh`: Lambert's continued fraction near 0, else `1 - 2 / (e^2x + 1)`.
//!
//! Within 1.5 ulp in `f32`, 2 in `f64`.

use super::exp::{Exp, exp};

/// Where the two methods meet and how deep the fraction goes.
pub trait Tanh: Exp {
    /// Below, the continued fraction is used.
    const NEAR: Self;
    /// From here on the result is 1.
    const FAR: Self;
    /// The partial denominators after the first, innermost first.
    const DENOMINATORS: &'static [Self];
}

impl Tanh for f32 {
    const NEAR: Self = 0.7;
    const FAR: Self = 9.1;
    const DENOMINATORS: &'static [Self] = &[11.0, 9.0, 7.0, 5.0, 3.0];
}

impl Tanh for f64 {
    const NEAR: Self = 0.7;
    const FAR: Self = 19.1;
    const DENOMINATORS: &'static [Self] = &[19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0];
}

/// The hyperbolic tangent of `x`.
pub fn tanh<F: Tanh>(x: F) -> F {
    let magnitude = x.magnitude();
    if magnitude < F::NEAR {
        return near(x);
    }
    if magnitude > F::FAR {
        return F::ONE.with_sign_of(x);
    }
    (F::ONE - F::TWO / (exp(F::TWO * magnitude) + F::ONE)).with_sign_of(x)
}

/// `x / (1 + t)` with `t = x^2 / (3 + x^2 / (5 + ...))`, as `x` minus a small fraction of `x`.
fn near<F: Tanh>(x: F) -> F {
    let square = x * x;
    let t = F::DENOMINATORS.iter().fold(F::ZERO, |inner, denominator| square / (*denominator + inner));
    (x - x * (t / (F::ONE + t))).with_sign_of(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::test::{spread, worst32, worst64};

    #[test]
    fn error_bounds() {
        let (error, at) = worst32(&spread(1e-30, 10.0), tanh, f64::tanh);
        assert!(error <= 1.5, "{error} ulp at {at}");
        let (error, at) = worst64(&spread(1e-300, 20.0), tanh, f64::tanh);
        assert!(error <= 2.0, "{error} ulp at {at}");
    }

    #[test]
    fn special_values() {
        assert_eq!(tanh(-0.0_f32).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(tanh(f32::NEG_INFINITY), -1.0);
        assert_eq!(tanh(f64::INFINITY), 1.0);
        assert!(tanh(f32::NAN).is_nan());
    }
}
