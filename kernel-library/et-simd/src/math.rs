//! Vectorized math functions, with the error bounds that the tests check. Errors are in ULP (units in the last place).
//!
//! Coefficients are minimax fits of the functions divided by the leading term, computed for this crate.

#[cfg(test)]
mod test;

use crate::{Float, Simd};

/// Clamps to `[least, most]`; NaN stays NaN.
#[inline(always)]
pub fn clamp<S: Simd>(isa: S, x: S::F32, least: f32, most: f32) -> S::F32 {
    isa.splat(most).min(isa.splat(least).max(x))
}

/// `clamp(x + 3, 0, 6) / 6`.
#[inline(always)]
pub fn hard_sigmoid<S: Simd>(isa: S, x: S::F32) -> S::F32 {
    clamp(isa, x + isa.splat(3.0), 0.0, 6.0) * isa.splat(1.0 / 6.0)
}

/// `exp(x)` within 2 ULP. Infinity above 88.73, NaN for NaN, and 0 below -87.33, where results would be subnormal:
/// subnormal arithmetic takes a hundred times as long, and softmax over masked keys would hit this case often.
#[inline(always)]
pub fn exp<S: Simd>(isa: S, x: S::F32) -> S::F32 {
    // `ln(2)` split in two: products of the first part with integers up to 2^9 are exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    const LEAST: f32 = -87.33;
    let is_tiny = x.is_less(isa.splat(LEAST));
    let x = isa.splat(89.0).min(isa.splat(LEAST).max(x));
    let power = (x * isa.splat(core::f32::consts::LOG2_E)).round();
    let rest = power.neg_mul_add(isa.splat(LN_2[0]), x);
    let rest = power.neg_mul_add(isa.splat(LN_2[1]), rest);
    let curve = polynomial(isa, rest, [0.499_999_94, 0.166_665_2, 0.041_668_393, 0.008_368_781, 0.001_381_446_7]);
    let one = isa.splat(1.0);
    let less_one = (curve * rest).mul_add(rest, rest);
    isa.splat(0.0).select(is_tiny, (one + less_one).times_power_of_two(power))
}

/// `1 / (1 + exp(-x))` within 4 ULP.
#[inline(always)]
pub fn sigmoid<S: Simd>(isa: S, x: S::F32) -> S::F32 {
    let one = isa.splat(1.0);
    one / (one + exp(isa, x.neg()))
}

/// `x / (1 + exp(-x))`, the sigmoid linear unit.
#[inline(always)]
pub fn silu<S: Simd>(isa: S, x: S::F32) -> S::F32 {
    x / (isa.splat(1.0) + exp(isa, x.neg()))
}

/// `ln(1 + exp(x))` within 4 ULP.
#[inline(always)]
pub fn softplus<S: Simd>(isa: S, x: S::F32) -> S::F32 {
    let small = exp(isa, x.abs().neg());
    // ln(1 + t) = 2 atanh(t / (2 + t)); the square is at most 1/9.
    let ratio = small / (isa.splat(2.0) + small);
    let square = ratio * ratio;
    let series = [2.0, 2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0, 2.0 / 11.0, 2.0 / 13.0, 2.0 / 15.0];
    polynomial(isa, square, series).mul_add(ratio, x.max(isa.splat(0.0)))
}

/// `tanh(x)` within 3 ULP.
#[inline(always)]
pub fn tanh<S: Simd>(isa: S, x: S::F32) -> S::F32 {
    let size = x.abs();
    let square = x * x;
    let curve = polynomial(isa, square, [-0.333_332_8, 0.133_314_42, -0.053_739_715, 0.020_639_088, -0.005_704_987]);
    let near = (curve * square).mul_add(x, x);
    let one = isa.splat(1.0);
    let far = one - isa.splat(2.0) / (exp(isa, size + size) + one);
    near.select(size.is_less(isa.splat(0.625)), far.copy_sign(x))
}

/// `erf(x)` within 3 ULP.
#[inline(always)]
pub fn erf<S: Simd>(isa: S, x: S::F32) -> S::F32 {
    const NEAR: [f32; 6] = [0.128_379_15, -0.376_125_25, 0.112_821_41, -0.026_778_908, 0.005_011_962_7, -6.090_36e-4];
    // `ln(1 - erf(x))` is nearly a parabola.
    const FAR: [f32; 6] = [1.128_52, 0.635_699_4, 0.105_286_85, -0.022_906_03, 0.003_219_975, -2.145_949_4e-4];
    let size = isa.splat(4.0).min(x.abs());
    let near = polynomial(isa, x * x, NEAR).mul_add(x, x);
    let far = isa.splat(1.0) - exp(isa, (size * polynomial(isa, size, FAR)).neg());
    near.select(size.is_less(isa.splat(0.9)), far.copy_sign(x))
}

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

/// Evaluates a polynomial in `x`, lowest coefficient first, by Horner's rule.
#[inline(always)]
fn polynomial<S: Simd, const N: usize>(isa: S, x: S::F32, coefficients: [f32; N]) -> S::F32 {
    let mut sum = isa.splat(coefficients[N - 1]);
    for index in (0..N - 1).rev() {
        sum = sum.mul_add(x, isa.splat(coefficients[index]));
    }
    sum
}
