//! The sum of two int8 numbers.

use crate::requantize::{Factor, SUM_FRACTION};
use crate::{Bounds, Sum};

/// The rule of a sum, for many elements.
#[derive(Clone, Copy)]
pub struct Rule {
    zeros: [i32; 2],
    scales: [Factor; 2],
    scale: Factor,
    bounds: Bounds,
}

impl Sum {
    /// The rule for many elements.
    pub fn prepare(&self) -> Rule {
        let scales = [self.left_scale.prepare(), self.right_scale.prepare()];
        Rule { zeros: [self.left_zero, self.right_zero], scales, scale: self.scale.prepare(), bounds: self.bounds }
    }
}

impl Rule {
    /// The sum of two elements.
    #[inline(always)]
    pub fn of(&self, left: i32, right: i32) -> i8 {
        let left = self.scales[0].apply(left.wrapping_sub(self.zeros[0]).wrapping_shl(SUM_FRACTION));
        let right = self.scales[1].apply(right.wrapping_sub(self.zeros[1]).wrapping_shl(SUM_FRACTION));
        self.bounds.clamp(self.scale.apply(left.wrapping_add(right)))
    }
}
