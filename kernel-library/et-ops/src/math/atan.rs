//! `atan` and `atan2`: reduction to `[-tan(pi/8), tan(pi/8)]`, then a minimax polynomial.
//!
//! Above, `atan x` is `pi/4 + atan((x - 1) / (x + 1))` or `pi/2 - atan(1/x)`. The coefficients are least-maximum-error fits
//! of `(atan x / x - 1) / x^2` in powers of `x^2`, computed with 60 digits.
//! Within 2 ulp; `atan2` within 2.5.

use super::Format;

/// The fit, and pi in two parts.
pub trait Arctangent: Format {
    /// The coefficients.
    const ARCTANGENT: &'static [Self];
    /// tan(pi/8).
    const EIGHTH: Self;
    /// tan(3pi/8).
    const THREE_EIGHTHS: Self;
    /// pi/2, rounded.
    const HALF_PI: Self;
    /// The rounding error of [`Arctangent::HALF_PI`].
    const HALF_PI_LOW: Self;
}

impl Arctangent for f32 {
    const ARCTANGENT: &'static [Self] = &[-0.333_333_16, 0.199_984_9, -0.142_438_36, 0.105_959_04, -0.060_831_97];
    const EIGHTH: Self = 0.414_213_57;
    const THREE_EIGHTHS: Self = 2.414_213_7;
    const HALF_PI: Self = core::f32::consts::FRAC_PI_2;
    const HALF_PI_LOW: Self = -4.371_139e-8;
}

impl Arctangent for f64 {
    const ARCTANGENT: &'static [Self] = &[
        -0.333_333_333_333_333_3,
        0.199_999_999_999_976_9,
        -0.142_857_142_853_907_86,
        0.111_111_110_883_510_33,
        -0.090_909_081_507_850_72,
        0.076_922_829_002_763_25,
        -0.066_662_288_508_416_11,
        0.058_770_423_205_274_784,
        -0.052_185_366_460_985_66,
        0.045_040_878_477_581_69,
        -0.033_487_007_354_243_724,
        0.015_207_916_152_351_242,
    ];
    const EIGHTH: Self = 0.414_213_562_373_095_03;
    const THREE_EIGHTHS: Self = 2.414_213_562_373_095;
    const HALF_PI: Self = core::f64::consts::FRAC_PI_2;
    const HALF_PI_LOW: Self = 6.123_233_995_736_766e-17;
}

/// The angle whose tangent is `x`.
pub fn atan<F: Arctangent>(x: F) -> F {
    positive(x.magnitude()).with_sign_of(x)
}

/// The angle of the point `(x, y)`, from -pi to pi, with the special cases of C's `atan2`.
pub fn atan2<F: Arctangent>(y: F, x: F) -> F {
    if y.is_nan() || x.is_nan() {
        return F::NAN;
    }
    let angle = slope(y.magnitude(), x.magnitude());
    let angle = if x.is_signed() { (F::TWO * F::HALF_PI - angle) + F::TWO * F::HALF_PI_LOW } else { angle };
    angle.with_sign_of(y)
}

/// The angle of a point with positive coordinates: 0 for the origin, pi/4 if both coordinates are infinite.
fn slope<F: Arctangent>(height: F, width: F) -> F {
    match height / width {
        ratio if !ratio.is_nan() => positive(ratio),
        _ if height == F::ZERO => F::ZERO,
        _ => F::HALF * F::HALF_PI,
    }
}

fn positive<F: Arctangent>(x: F) -> F {
    if x <= F::EIGHTH {
        near(x)
    } else if x <= F::THREE_EIGHTHS {
        let rest = near((x - F::ONE) / (x + F::ONE));
        F::HALF * F::HALF_PI + (rest + F::HALF * F::HALF_PI_LOW)
    } else {
        F::HALF_PI + (near(-F::ONE / x) + F::HALF_PI_LOW)
    }
}

fn near<F: Arctangent>(x: F) -> F {
    let square = x * x;
    x + x * (square * square.polynomial(F::ARCTANGENT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::test::{spread, worst32, worst64};

    #[test]
    fn error_bounds() {
        for (low, high) in [(1e-30, 4.0), (1.0, 1e30)] {
            let (error, at) = worst32(&spread(low, high), atan, f64::atan);
            assert!(error <= 2.0, "{error} ulp at {at}");
            let (error, at) = worst64(&spread(low, high), atan, f64::atan);
            assert!(error <= 2.0, "{error} ulp at {at}");
        }
    }

    #[test]
    fn error_bounds_of_points() {
        for x in [1.0, -1.0, 3.0, -0.3, 1e-3, -1e4] {
            let (error, at) = worst32(&spread(1e-20, 100.0), |y| atan2(y, x as f32), |y| y.atan2(f64::from(x as f32)));
            assert!(error <= 2.5, "{error} ulp at {at}, {x}");
            let (error, at) = worst64(&spread(1e-20, 100.0), |y| atan2(y, x), |y| y.atan2(x));
            assert!(error <= 2.5, "{error} ulp at {at}, {x}");
        }
    }

    #[test]
    fn special_cases_are_those_of_the_host() {
        let inf = f64::INFINITY;
        let values = [0.0, -0.0, 1.0, -1.0, inf, -inf, f64::NAN, 1e300, -1e300, 5e-324];
        for (y, x) in values.iter().flat_map(|y| values.map(|x| (*y, x))) {
            let (got, host) = (atan2(y, x), y.atan2(x));
            let same = got.to_bits() == host.to_bits() || (got.is_nan() && host.is_nan());
            assert!(same || (got - host).abs() <= host.abs() * 3e-16, "{y}, {x}: {got}, not {host}");
            assert_eq!(got.is_sign_negative(), host.is_sign_negative() && !got.is_nan(), "{y}, {x}");
        }
        assert_eq!(atan(-0.0_f32).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(atan(f32::NEG_INFINITY), -core::f32::consts::FRAC_PI_2);
    }
}
