//! Requantization: an int32 accumulator times a real factor, rounded to an integer, in 32-bit integers.
//!
//! The rule is that of TensorFlow Lite's reference kernels, which CMSIS-NN has too. A factor is `multiplier * 2^(shift - 31)` with
//! `2^30 <= multiplier < 2^31`. A value is shifted left by a positive `shift`; the doubled high half of the product with the
//! multiplier is rounded to nearest, halves up; then the result is divided by `2^-shift` for a negative `shift`, rounded to
//! nearest, halves away from zero. Values and factors are such that nothing overflows: the host half checks this.

use et_record::records;

use crate::row;

/// The fractional bits of sums of scaled tensors.
pub const FRACTION: i32 = 12;

records! {
    /// A positive or negative factor.
    #[repr(C)]
    #[derive(Eq)]
    pub struct Multiplier {
        /// The factor as Q31.
        pub multiplier: i32,
        /// The power of two.
        pub shift: i32,
    }

    /// The constants of an output channel.
    #[repr(C)]
    #[derive(Eq)]
    pub struct Channel {
        /// What the accumulator begins with.
        pub bias: i32,
        /// The factor of the accumulator.
        pub factor: Multiplier,
    }
}

impl Multiplier {
    /// The factor nearest to a number. Numbers below `2^-31` become 0.
    pub fn of(number: f64) -> Self {
        let (mantissa, mut shift) = split(number);
        // Rounds halves away from zero, as TensorFlow Lite does.
        let scaled = mantissa * 2_147_483_648.0;
        let mut multiplier = (scaled + if scaled < 0.0 { -0.5 } else { 0.5 }) as i64;
        if multiplier.unsigned_abs() == 1 << 31 {
            multiplier /= 2;
            shift += 1;
        }
        if shift < -31 { Self::default() } else { Self { multiplier: multiplier as i32, shift } }
    }

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

impl Factor {
    /// The product with a value, rounded.
    #[inline(always)]
    pub fn apply(self, value: i32) -> i32 {
        let high = row::doubling_high_product(value.wrapping_shl(self.left), self.multiplier);
        // Halves of negative numbers go down: one less before the shift, which rounds down.
        high.wrapping_add(self.half).wrapping_add((high >> 31) & self.sign).wrapping_shr(self.right)
    }
}

/// A number as mantissa and exponent: `mantissa * 2^exponent` with `0.5 <= |mantissa| < 1`, or zeros.
fn split(number: f64) -> (f64, i32) {
    let bits = number.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    if exponent == 0 || exponent == 0x7ff {
        // Subnormal numbers are far below what a multiplier expresses.
        return (0.0, 0);
    }
    (f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52), exponent - 1022)
}

/// `value / 2^exponent` for a positive exponent, rounded to nearest, halves away from zero.
#[inline(always)]
pub const fn divide_by_power_of_two(value: i32, exponent: i32) -> i32 {
    let half = 1_i32.wrapping_shl(exponent as u32 - 1);
    value.wrapping_add(half).wrapping_add(value >> 31).wrapping_shr(exponent as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_near_their_numbers() {
        for number in [1.0, 0.5, 0.999_999_999_9, 0.003_921_6, 123.456, -0.25, 1e-9, 0.0] {
            let Multiplier { multiplier, shift } = Multiplier::of(number);
            let got = f64::from(multiplier) * 2_f64.powi(shift - 31);
            assert!((got - number).abs() <= number.abs() * 1e-9, "{number} {got}");
        }
        assert_eq!(Multiplier::of(1.0), Multiplier { multiplier: 1 << 30, shift: 1 });
        assert_eq!(Multiplier::of(1e-12), Multiplier::default());
    }

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
