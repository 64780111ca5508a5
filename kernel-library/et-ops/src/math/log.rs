//! Logarithms to bases 2 and 10, from the natural logarithm in twice the precision, which keeps powers of the base
//! exact.
//!
//! Within 1 ulp.

use super::pair::Pair;
use super::pow::{Pow, precise_ln};

/// Factors from the natural logarithm.
pub trait Log: Pow {
    /// 1 / ln 2.
    const PER_LN_2: Pair<Self>;
    /// 1 / ln 10.
    const PER_LN_10: Pair<Self>;
}

impl Log for f32 {
    const PER_LN_2: Pair<Self> = Pair { high: core::f32::consts::LOG2_E, low: 1.925_963e-08 };
    const PER_LN_10: Pair<Self> = Pair { high: core::f32::consts::LOG10_E, low: -1.010_305e-08 };
}

impl Log for f64 {
    const PER_LN_2: Pair<Self> = Pair { high: core::f64::consts::LOG2_E, low: 2.035_527_374_093_103_3e-17 };
    const PER_LN_10: Pair<Self> = Pair { high: core::f64::consts::LOG10_E, low: 1.098_319_650_216_765e-17 };
}

/// The logarithm of `x` to base 2; NaN for negative numbers.
pub fn log2<F: Log>(x: F) -> F {
    scaled(x, F::PER_LN_2)
}

/// The logarithm of `x` to base 10; NaN for negative numbers.
pub fn log10<F: Log>(x: F) -> F {
    scaled(x, F::PER_LN_10)
}

fn scaled<F: Log>(x: F, factor: Pair<F>) -> F {
    if x.is_nan() || x == F::HIGHEST {
        x
    } else if x <= F::ZERO {
        if x == F::ZERO { F::LOWEST } else { F::NAN }
    } else {
        precise_ln(x).times(factor).high
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::test::{spread, worst32, worst64};

    #[test]
    fn error_bounds() {
        for (low, high) in [(0.5, 2.0), (1e-45, 3e38)] {
            let (error, at) = worst32(&spread(low, high), log2, f64::log2);
            assert!(error <= 1.0, "{error} ulp at log2 {at}");
            let (error, at) = worst32(&spread(low, high), log10, f64::log10);
            assert!(error <= 1.0, "{error} ulp at log10 {at}");
        }
        for (low, high) in [(0.5, 2.0), (1e-323, 1e308)] {
            let (error, at) = worst64(&spread(low, high), log2, f64::log2);
            assert!(error <= 1.0, "{error} ulp at log2 {at}");
            let (error, at) = worst64(&spread(low, high), log10, f64::log10);
            assert!(error <= 2.5, "{error} ulp at log10 {at}"); // The host is within 2.
        }
    }

    #[test]
    fn powers_of_the_base_are_exact() {
        for power in -149_i16..=127 {
            assert_eq!(log2(2.0_f64.powi(i32::from(power)) as f32), f32::from(power));
        }
        for power in -1022_i16..=1023 {
            assert_eq!(log2(2.0_f64.powi(i32::from(power))), f64::from(power));
        }
        for power in 0..=22_i16 {
            assert_eq!(log10(10.0_f64.powi(i32::from(power))), f64::from(power));
        }
    }

    #[test]
    fn special_values() {
        for function in [log2, log10] {
            assert_eq!(function(1.0_f32).to_bits(), 0);
            assert_eq!(function(-0.0), f32::NEG_INFINITY);
            assert_eq!(function(f32::INFINITY), f32::INFINITY);
            assert!(function(-1.0).is_nan() && function(f32::NAN).is_nan());
        }
    }
}
