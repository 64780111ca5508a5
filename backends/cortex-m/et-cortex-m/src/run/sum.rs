//! The sum of two int8 numbers.

use crate::requantize::{Factor, SUM_FRACTION};
#[cfg(all(target_arch = "arm", feature = "mve"))]
use crate::row::Addition;
use crate::{Bounds, Multiplier, Sum};

/// The rule of a sum, for many elements.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The zero points with the fractional bits.
    zeros: [i32; 2],
    /// The factors of both operands and of their sum.
    factors: [Factor; 3],
    bounds: Bounds,
}

impl Sum {
    /// The rule for many elements.
    pub fn prepare(&self) -> Rule {
        let zeros = [self.left_zero, self.right_zero].map(|zero| zero.wrapping_shl(SUM_FRACTION));
        let factors = [self.left_scale, self.right_scale, self.scale].map(Multiplier::prepare);
        Rule { zeros, factors, bounds: self.bounds }
    }
}

impl Rule {
    /// The sums of all elements; without another operand, the right one is the output.
    #[inline(never)]
    pub fn add(&self, left: &[i8], right: Option<&[i8]>, output: &mut [i8]) {
        #[cfg(all(target_arch = "arm", feature = "mve"))]
        if let Some(addition) = self.for_vectors() {
            return crate::row::add(&addition, left, right, output);
        }
        match right {
            Some(right) => {
                for ((output, left), right) in output.iter_mut().zip(left).zip(right) {
                    *output = self.of(*left, *right);
                }
            }
            None => output.iter_mut().zip(left).for_each(|(output, left)| *output = self.of(*left, *output)),
        }
    }

    /// The rule for vectors, if no factor shifts to the left, and that of the sum shifts to the right.
    #[cfg(all(target_arch = "arm", feature = "mve"))]
    fn for_vectors(&self) -> Option<Addition> {
        let shifts = self.factors.map(|factor| factor.shift());
        let fits = shifts[2] < 0 && self.factors.iter().all(|factor| factor.left() == 0);
        fits.then(|| Addition {
            zeros: self.zeros,
            multipliers: self.factors.map(|factor| factor.multiplier()),
            shifts,
            signs: [self.factors[0].sign(), self.factors[1].sign()],
            zero: self.bounds.zero,
            limits: [self.bounds.least, self.bounds.most],
        })
    }

    /// The sum of two elements.
    #[inline(always)]
    fn of(&self, left: i8, right: i8) -> i8 {
        let Self { zeros, factors, bounds } = self;
        let scaled = |element: i8, zero: i32, factor: Factor| {
            factor.apply(i32::from(element).wrapping_shl(SUM_FRACTION).wrapping_sub(zero))
        };
        let sum = scaled(left, zeros[0], factors[0]).wrapping_add(scaled(right, zeros[1], factors[1]));
        bounds.clamp(factors[2].apply(sum))
    }
}
