//! Requantization: an int32 accumulator times a real factor, rounded to an integer, in 32-bit integers.
//!
//! The rule is that of TensorFlow Lite's reference kernels, which CMSIS-NN has too. A factor is `multiplier * 2^(shift - 31)` with
//! `2^30 <= multiplier < 2^31`. A value is shifted left by a positive `shift`; the doubled high half of the product with the
//! multiplier is rounded to nearest, halves up; then the result is divided by `2^-shift` for a negative `shift`, rounded to
//! nearest, halves away from zero. Values and factors are such that nothing overflows: the host half checks this.

use crate::{Multiplier, row};

/// The fractional bits of sums of scaled tensors.
pub const FRACTION: i32 = 12;

/// The fractional bits of the operands of [`crate::Sum`].
pub const SUM_FRACTION: u32 = 20;

/// The fractional bits of the operands of [`crate::Add16`].
pub const SUM_FRACTION_16: u32 = 15;

impl Multiplier {
    /// The product with a value, rounded.
    #[inline(always)]
    pub fn apply(self, value: i32) -> i32 {
        if self.shift >= 0 {
            return row::doubling_high_product(value.wrapping_shl(self.shift as u32), self.multiplier);
        }
        divide_by_power_of_two(row::doubling_high_product(value, self.multiplier), self.shift.wrapping_neg())
    }

    /// The factor in the form for many values.
    #[inline(always)]
    pub fn prepare(self) -> Factor {
        let (left, right) = (self.shift.max(0) as u32, self.shift.wrapping_neg().max(0) as u32);
        let half = (1_i32.wrapping_shl(right) >> 1).max(0);
        Factor { multiplier: self.multiplier, left, right, half, sign: -i32::from(right > 0) }
    }
}

/// A factor with the shifts and the half for rounding, computed once for many values.
#[derive(Clone, Copy, Debug)]
pub struct Factor {
    multiplier: i32,
    left: u32,
    right: u32,
    /// Half of the divisor.
    half: i32,
    /// A mask: all bits set if the result is divided, 0 otherwise.
    sign: i32,
}

#[allow(dead_code, reason = "vector kernels need the parts")]
impl Factor {
    /// The factor as Q31.
    pub(crate) const fn multiplier(&self) -> i32 {
        self.multiplier
    }

    /// The bits that values are shifted to the left by.
    pub(crate) const fn left(&self) -> u32 {
        self.left
    }

    /// The power of two that the product is divided by, negative, or 0.
    pub(crate) const fn shift(&self) -> i32 {
        -(self.right as i32)
    }

    /// All bits set if the product is divided, 0 otherwise.
    pub(crate) const fn sign(&self) -> i32 {
        self.sign
    }

    /// The product with a value, rounded.
    #[inline(always)]
    pub fn apply(self, value: i32) -> i32 {
        let high = row::doubling_high_product(value.wrapping_shl(self.left), self.multiplier);
        // Halves of negative numbers go down: one less before the shift, which rounds down.
        high.wrapping_add(self.half).wrapping_add((high >> 31) & self.sign).wrapping_shr(self.right)
    }
}

/// `value / 2^exponent` for a positive exponent, rounded to nearest, halves away from zero.
#[inline(always)]
pub const fn divide_by_power_of_two(value: i32, exponent: i32) -> i32 {
    let half = 1_i32.wrapping_shl(exponent as u32 - 1);
    value.wrapping_add(half).wrapping_add(value >> 31).wrapping_shr(exponent as u32)
}

/// The rule of TensorFlow Lite's int16 layers: a sum times a factor of 15 bits, divided by `2^shift` and rounded once, halves up. The
/// result fits in 32 bits: the host half checks this.
#[inline(always)]
pub const fn shifted_product(sum: i64, multiplier: i32, shift: i32) -> i32 {
    let half = 1_i64.wrapping_shl((shift as u32).wrapping_sub(1));
    sum.wrapping_mul(multiplier as i64).wrapping_add(half).wrapping_shr(shift as u32) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_roundings_are_those_of_the_rule() {
        let half = Multiplier { multiplier: 1 << 30, shift: 0 };
        assert_eq!([-3, -1, 1, 3].map(|value| half.apply(value)), [-1, 0, 1, 2], "halves of a product go up");
        let quotients = [-6, -2, 2, 6, 5].map(|value| divide_by_power_of_two(value, 2));
        assert_eq!(quotients, [-2, -1, 1, 2, 1], "halves of a quotient go away from zero");
        let whole = Multiplier { multiplier: 1 << 30, shift: 1 };
        assert_eq!([-5, 7].map(|value| whole.apply(value)), [-5, 7]);
        let quarter = Multiplier { multiplier: 1 << 30, shift: -1 };
        assert_eq!([-7, -2, 2, 6].map(|value| quarter.apply(value)), [-2, -1, 1, 2]);
    }
}
