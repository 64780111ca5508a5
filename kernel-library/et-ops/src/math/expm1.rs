//! `expm1`: the reduction of [`exp`](super::exp), plus the power of two less 1.
//!
//! Within 1.5 ulp in `f32`, 2 in `f64`.

use super::exp::{Exp, exp, reduced};

/// `e^x - 1`.
pub fn expm1<F: Exp>(x: F) -> F {
    let far = F::from_i32(F::FRACTION as i32 + 2);
    if x.is_nan() || x > far || x < F::ZERO - far {
        return exp(x) - F::ONE;
    }
    if x == F::ZERO {
        return x;
    }
    let (exponent, rest) = reduced(x, F::ZERO);
    let power = F::power_of_two(exponent);
    rest * power + (power - F::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::test::{spread, worst32, worst64};

    #[test]
    fn error_bounds() {
        let (error, at) = worst32(&spread(1e-30, 88.0), expm1, f64::exp_m1);
        assert!(error <= 1.5, "{error} ulp at {at}");
        let (error, at) = worst64(&spread(1e-300, 700.0), expm1, f64::exp_m1);
        assert!(error <= 2.0, "{error} ulp at {at}");
    }

    #[test]
    fn special_values() {
        assert_eq!(expm1(-0.0_f32).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(expm1(f32::NEG_INFINITY), -1.0);
        assert_eq!(expm1(f32::INFINITY), f32::INFINITY);
        assert!(expm1(f32::NAN).is_nan());
    }
}
