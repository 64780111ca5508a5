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

#[cfg(test)]
mod tests {
    use crate::math::test::{apply, sweep};

    #[test]
    fn it_is_within_three_units() {
        sweep("tanh", -10.0..10.0, 3.0, f64::tanh);
        sweep("tanh", -0.01..0.01, 3.0, f64::tanh);
    }

    #[test]
    fn far_away_it_is_one() {
        for result in apply("tanh", &[f32::NEG_INFINITY, 100.0, f32::NAN]) {
            assert_eq!(result[..2], [-1.0, 1.0]);
            assert!(result[2].is_nan());
        }
    }
}
