//! The exponential function.

use super::polynomial;
use crate::{Float, Simd};

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
