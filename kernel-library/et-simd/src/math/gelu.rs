//! The Gaussian error linear unit.

use super::{exp, polynomial};
use crate::{Float, Simd};

/// `gelu(x)` with an error of `1.5e-7 * max(1, |x|)`.
///
/// Computed as `max(x, 0) - |x| * Q(|x|)` with the upper tail `Q` of the normal distribution. `log2(Q)` is nearly a
/// parabola, so that no division and no special case for small inputs is needed.
#[inline(always)]
pub fn gelu<S: Simd>(isa: S, x: S::F32) -> S::F32 {
    // Fitted from 0 to 5.5; the tail of larger inputs is negligible.
    const GREATEST: f32 = 5.5;
    const SHARE: [f32; 9] = [
        -1.0,
        -1.151_105_2,
        -0.459_208_2,
        -0.052_496_18,
        0.007_063_42,
        -1.369_364_3e-4,
        -1.861_802_2e-4,
        3.937_768_6e-5,
        -2.834_912_3e-6,
    ];
    // `2^x` for `x` between -0.5 and 0.5.
    const POWER: [f32; 7] =
        [1.0, core::f32::consts::LN_2, 0.240_226_48, 0.055_503_324, 0.009_618_438, 0.001_339_888_8, 1.535_335_2e-4];
    let size = isa.splat(GREATEST).min(x.abs());
    let logarithm = polynomial(isa, size, SHARE);
    let whole = logarithm.round();
    let share = polynomial(isa, logarithm - whole, POWER).times_power_of_two(whole);
    size.neg_mul_add(share, isa.splat(0.0).max(x))
}

/// [`gelu`] in PyTorch's tanh approximation: `x * sigmoid(2 * sqrt(2 / pi) * (x + 0.044715 * x^3))`.
#[inline(always)]
pub fn gelu_tanh<S: Simd>(isa: S, x: S::F32) -> S::F32 {
    const TWICE_ROOT_OF_TWO_BY_PI: f32 = core::f32::consts::FRAC_2_SQRT_PI * core::f32::consts::SQRT_2;
    let inner = (x * x).mul_add(isa.splat(0.044_715), isa.splat(1.0)) * x;
    x / (isa.splat(1.0) + exp(isa, inner * isa.splat(-TWICE_ROOT_OF_TWO_BY_PI)))
}

#[cfg(test)]
mod tests {
    use crate::math::test::{apply, error_function};

    #[test]
    fn it_is_a_share_of_the_number() {
        let input: std::vec::Vec<f32> = (-200_000..200_000).map(|index| index as f32 * 4.3e-5).collect();
        for results in apply("gelu", &input) {
            for (x, result) in input.iter().zip(results) {
                let exact = f64::from(*x) * 0.5 * (1.0 + error_function(f64::from(*x) / std::f64::consts::SQRT_2));
                let error = (exact - f64::from(result)).abs();
                assert!(error <= 1.5e-7 * f64::from(x.abs().max(1.0)), "{x}: {result}, not {exact}");
            }
        }
    }

    #[test]
    fn far_away_it_is_the_number_or_nearly_zero() {
        for results in apply("gelu", &[f32::INFINITY, 1e30, f32::NAN, 0.0, f32::NEG_INFINITY, -1e30]) {
            assert_eq!(results[..2], [f32::INFINITY, 1e30]);
            assert!(results[2].is_nan());
            assert_eq!(results[3], 0.0);
            assert!(results[4..].iter().all(|result| result.abs() < 1.5e-7));
        }
    }
}
