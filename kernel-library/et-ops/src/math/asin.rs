//! `asin` and `acos`: a minimax polynomial up to 1/2; above, the half-angle formula.
//!
//! `acos x = 2 asin(sqrt((1 - x) / 2))`, corrected by the rounding error of the root. The coefficients are
//! least-maximum-error fits of `(asin x / x - 1) / x^2` in powers of `x^2`, computed with 60 digits. Within 1.5 ulp.

use super::atan::Arctangent;
use super::pair::Pair;
use super::sqrt::Sqrt;

/// The fit.
pub trait Arcsine: Arctangent + Sqrt {
    /// The coefficients.
    const ARCSINE: &'static [Self];
}

impl Arcsine for f32 {
    const ARCSINE: &'static [Self] = &[0.166_667_54, 0.074_952_42, 0.045_477_09, 0.024_147_647, 0.042_218_496];
}

impl Arcsine for f64 {
    const ARCSINE: &'static [Self] = &[
        0.166_666_666_666_667_62,
        0.074_999_999_999_702_61,
        0.044_642_857_175_121_08,
        0.030_381_942_683_620_413,
        0.022_372_215_659_921_245,
        0.017_351_600_101_805_634,
        0.013_980_961_311_632_784,
        0.011_397_777_204_593_726,
        0.010_786_522_159_570_214,
        0.003_683_067_518_359_997_5,
        0.021_763_439_265_986_22,
        -0.021_077_211_321_499_484,
        0.032_676_841_664_975_955,
    ];
}

/// The angle from -pi/2 to pi/2 whose sine is `x`; NaN beyond 1.
pub fn asin<F: Arcsine>(x: F) -> F {
    let magnitude = x.magnitude();
    if magnitude <= F::HALF {
        return x + correction(x, x * x);
    }
    let half = half_angle(magnitude);
    (F::HALF_PI - (F::TWO * half.high - (F::HALF_PI_LOW - F::TWO * half.low))).with_sign_of(x)
}

/// The angle from 0 to pi whose cosine is `x`; NaN beyond 1.
pub fn acos<F: Arcsine>(x: F) -> F {
    if x.magnitude() <= F::HALF {
        return F::HALF_PI - (x - (F::HALF_PI_LOW - correction(x, x * x)));
    }
    let half = half_angle(x.magnitude());
    if x > F::ZERO {
        return F::TWO * (half.high + half.low);
    }
    F::TWO * (F::HALF_PI - (half.high - (F::HALF_PI_LOW - half.low)))
}

/// `asin x - x`.
fn correction<F: Arcsine>(x: F, square: F) -> F {
    x * (square * square.polynomial(F::ARCSINE))
}

/// Half of the angle whose cosine is `x`, from 1/2 on.
fn half_angle<F: Arcsine>(x: F) -> Pair<F> {
    let square = (F::ONE - x) * F::HALF;
    let root = square.sqrt();
    if root == F::ZERO {
        return Pair::from(root);
    }
    let back = Pair::product(root, root);
    let lost = ((square - back.high) - back.low) / (F::TWO * root);
    Pair { high: root, low: lost + correction(root, square) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::test::{spread, worst32, worst64};

    #[test]
    fn error_bounds() {
        for low in [1e-30, 0.49] {
            let (error, at) = worst32(&spread(low, 1.0), asin, f64::asin);
            assert!(error <= 1.5, "{error} ulp at asin {at}");
            let (error, at) = worst32(&spread(low, 1.0), acos, f64::acos);
            assert!(error <= 1.5, "{error} ulp at acos {at}");
            let (error, at) = worst64(&spread(low, 1.0), asin, f64::asin);
            assert!(error <= 1.5, "{error} ulp at asin {at}");
            let (error, at) = worst64(&spread(low, 1.0), acos, f64::acos);
            assert!(error <= 1.5, "{error} ulp at acos {at}");
        }
    }

    #[test]
    fn special_values() {
        assert_eq!(asin(-0.0_f32).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(asin(-1.0_f64), -core::f64::consts::FRAC_PI_2);
        assert_eq!(acos(1.0_f32).to_bits(), 0);
        assert_eq!(acos(-1.0_f32), core::f32::consts::PI);
        for x in [1.0000001, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(asin(x).is_nan() && acos(x).is_nan(), "{x}");
        }
    }
}
