//! The hyperbolic tangent.

use super::{exp, polynomial};
use crate::{Float, Simd};

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
