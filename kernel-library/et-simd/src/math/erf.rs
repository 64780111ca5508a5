//! The error function.

use super::{exp, polynomial};
use crate::{Float, Simd};

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
