//! The logistic function.

use super::exp;
use crate::{Float, Simd};

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
