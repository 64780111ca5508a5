//! Piecewise linear functions.

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
