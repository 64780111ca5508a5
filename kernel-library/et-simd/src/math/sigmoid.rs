//! The logistic function.

use super::exp;
use crate::{Float, Isa};

/// `1 / (1 + exp(-x))` within 4 ULP.
#[inline(always)]
pub fn sigmoid<S: Isa>(isa: S, x: S::F32) -> S::F32 {
    let one = isa.splat(1.0);
    one / (one + exp(isa, x.neg()))
}

#[cfg(test)]
mod tests {
    use crate::math::test::sweep;

    #[test]
    fn it_is_within_four_units() {
        sweep("sigmoid", -87.0..87.0, 4.0, |x| 1.0 / (1.0 + (-x).exp()));
    }
}
