//! `sinh` and `cosh`, and the inverses of the hyperbolic functions, by [`exp`](super::exp) and [`ln`](super::ln).
//!
//! Within 2 ulp in `f32`, 2.5 in `f64`; `atanh` within 2.5 in both.

use super::exp::{Exp, half_exp};
use super::expm1::expm1;
use super::ln::{Ln, ln, ln_1p};
use super::sqrt::Sqrt;

/// The hyperbolic sine of `x`.
pub fn sinh<F: Exp>(x: F) -> F {
    let magnitude = x.magnitude();
    if magnitude > F::ONE {
        let half = half_exp(magnitude);
        return (half - F::HALF * F::HALF / half).with_sign_of(x);
    }
    let growth = expm1(magnitude);
    (F::HALF * (growth + growth / (growth + F::ONE))).with_sign_of(x)
}

/// The hyperbolic cosine of `x`.
pub fn cosh<F: Exp>(x: F) -> F {
    let half = half_exp(x.magnitude());
    half + F::HALF * F::HALF / half
}

/// The number whose hyperbolic sine is `x`.
pub fn asinh<F: Ln + Sqrt>(x: F) -> F {
    let magnitude = x.magnitude();
    let result = if magnitude > F::INTEGERS {
        ln_of_double(magnitude)
    } else if magnitude > F::TWO {
        ln(F::TWO * magnitude + F::ONE / ((magnitude * magnitude + F::ONE).sqrt() + magnitude))
    } else {
        let square = magnitude * magnitude;
        ln_1p(magnitude + square / (F::ONE + (square + F::ONE).sqrt()))
    };
    result.with_sign_of(x)
}

/// The positive number whose hyperbolic cosine is `x`; NaN below 1.
pub fn acosh<F: Ln + Sqrt>(x: F) -> F {
    if x < F::ONE {
        F::NAN
    } else if x > F::INTEGERS {
        ln_of_double(x)
    } else if x > F::TWO {
        ln(F::TWO * x - F::ONE / (x + (x * x - F::ONE).sqrt()))
    } else {
        let above = x - F::ONE;
        ln_1p(above + (F::TWO * above + above * above).sqrt())
    }
}

/// The number whose hyperbolic tangent is `x`; NaN beyond 1.
pub fn atanh<F: Ln>(x: F) -> F {
    let magnitude = x.magnitude();
    let double = F::TWO * magnitude;
    let ratio = if magnitude < F::HALF {
        double + double * magnitude / (F::ONE - magnitude)
    } else {
        double / (F::ONE - magnitude)
    };
    (F::HALF * ln_1p(ratio)).with_sign_of(x)
}

/// `ln 2x` where `2x` may be too large.
fn ln_of_double<F: Ln>(x: F) -> F {
    ln(x) + (F::LN_2_HIGH + F::LN_2_LOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::test::{spread, ulps64, worst32, worst64};

    #[test]
    fn error_bounds() {
        let (error, at) = worst32(&spread(1e-30, 89.41), sinh, f64::sinh);
        assert!(error <= 2.0, "{error} ulp at sinh {at}");
        let (error, at) = worst32(&spread(1e-30, 89.41), cosh, f64::cosh);
        assert!(error <= 2.0, "{error} ulp at cosh {at}");
        let (error, at) = worst64(&spread(1e-300, 710.4), sinh, f64::sinh);
        assert!(error <= 2.5, "{error} ulp at sinh {at}");
        let (error, at) = worst64(&spread(1e-300, 710.4), cosh, f64::cosh);
        assert!(error <= 2.5, "{error} ulp at cosh {at}");
    }

    /// The host's `asinh` and `atanh` in `f64` are not exact enough to judge the last bits: known values do.
    #[test]
    fn error_bounds_of_inverses() {
        for (low, high) in [(1e-30, 3.0), (1.0, 1e38)] {
            let (error, at) = worst32(&spread(low, high), asinh, f64::asinh);
            assert!(error <= 2.0, "{error} ulp at asinh {at}");
        }
        for (low, high) in [(1.0, 3.0), (1.0, 1e38)] {
            let (error, at) = worst32(&spread(low, high), acosh, f64::acosh);
            assert!(error <= 2.0, "{error} ulp at acosh {at}");
        }
        let (error, at) = worst32(&spread(1e-3, 0.999_999), atanh, f64::atanh);
        assert!(error <= 2.5, "{error} ulp at atanh {at}");
    }

    /// Values with 60 digits, rounded.
    #[test]
    fn known_values_of_inverses() {
        let known = [
            (1e-300, 1e-300),
            (1e-09, 1e-09),
            (0.001, 0.0009999998333334083),
            (0.1, 0.09983407889920756),
            (0.3, 0.29567304756342244),
            (0.5, 0.48121182505960347),
            (0.75, core::f64::consts::LN_2),
            (1.0, 0.881373587019543),
            (1.5, 1.1947632172871092),
            (1.999, 1.4431881721197168),
            (2.5, 1.6472311463710958),
            (10.0, 2.99822295029797),
            (123.456, 5.509048400149605),
            (100000000.0, 19.11382792451231),
            (1e+200, 461.2101657793691),
        ];
        for (x, exact) in known {
            let error = ulps64(asinh(x), exact);
            assert!(error <= 2.5, "{error} ulp at asinh {x}");
        }
        let known = [
            (1.0000001, 0.0004472135919037347),
            (1.001, 0.04471763360830685),
            (1.1, 0.4435682543851154),
            (1.3, 0.7564329108569596),
            (1.5, 0.9624236501192069),
            (1.75, 1.158810360429947),
            (1.999, 1.3163803541092536),
            (2.5, 1.566799236972411),
            (10.0, 2.993222846126381),
            (123.456, 5.509015594729667),
            (100000000.0, 19.11382792451231),
            (1e+200, 461.2101657793691),
        ];
        for (x, exact) in known {
            let error = ulps64(acosh(x), exact);
            assert!(error <= 2.5, "{error} ulp at acosh {x}");
        }
        let known = [
            (1e-300, 1e-300),
            (1e-09, 1e-09),
            (0.001, 0.0010000003333335333),
            (0.1, 0.10033534773107558),
            (0.2, 0.2027325540540822),
            (0.3, 0.3095196042031117),
            (0.4, 0.42364893019360184),
            (0.499, 0.5479736985088665),
            (0.5, 0.5493061443340549),
            (0.6, core::f64::consts::LN_2),
            (0.75, 0.9729550745276566),
            (0.9, 1.4722194895832204),
            (0.99, 2.6466524123622457),
            (0.999999, 7.254328619247669),
        ];
        for (x, exact) in known {
            let error = ulps64(atanh(x), exact);
            assert!(error <= 2.5, "{error} ulp at atanh {x}");
        }
    }

    #[test]
    fn special_values() {
        for x in [-0.0_f32, f32::NEG_INFINITY] {
            assert_eq!((sinh(x).to_bits(), asinh(x).to_bits()), (x.to_bits(), x.to_bits()));
        }
        assert_eq!(cosh(f64::NEG_INFINITY), f64::INFINITY);
        assert_eq!(acosh(1.0_f32).to_bits(), 0);
        assert_eq!(acosh(f64::INFINITY), f64::INFINITY);
        assert_eq!(atanh(-0.0_f32).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(atanh(-1.0_f64), f64::NEG_INFINITY);
        assert!(acosh(0.99_f32).is_nan() && atanh(1.01_f32).is_nan() && atanh(f32::INFINITY).is_nan());
        for function in [sinh, cosh, asinh, acosh, atanh] {
            assert!(function(f64::NAN).is_nan());
        }
    }
}
