//! The constants and operations of a binary floating-point format that the algorithms need.

use core::ops::{Add, Div, Mul, Neg, Rem, Sub};

use et_core::Float;

/// `f32` or `f64`.
pub trait Format:
    Float<Wide = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + Neg<Output = Self>
{
    /// Bits of the fraction.
    const FRACTION: u32;
    /// 0.5.
    const HALF: Self;
    /// 2.
    const TWO: Self;
    /// NaN.
    const NAN: Self;
    /// 2 to [`Self::FRACTION`]: from here on every number is an integer.
    const INTEGERS: Self;

    /// `|self|`.
    fn magnitude(self) -> Self;
    /// `|self|` with the sign of `sign`.
    fn with_sign_of(self, sign: Self) -> Self;
    /// Whether the sign bit is set.
    fn is_signed(self) -> bool;
    /// `2^exponent` for an exponent of normal numbers.
    fn power_of_two(exponent: i32) -> Self;
    /// A positive finite number as `(m, k)` with `self = m 2^k` and `m` in `[sqrt(1/2), sqrt(2))`.
    fn normalize(self) -> (Self, i32);
    /// A positive normal number as `(m, k)` with `self = m 2^k` and an integer `m`.
    fn integer(self) -> (u64, i32);
    /// An integer as a number.
    fn from_i32(value: i32) -> Self;
    /// An integer, rounded to a number.
    fn from_u64(value: u64) -> Self;
    /// The integer part of a positive number; saturates.
    fn to_u64(self) -> u64;
    /// The integer part; saturates.
    fn to_i32(self) -> i32;

    /// `self 2^exponent`, rounded once; `self` is of the order of 1 and the exponent within twice the normal range.
    fn scaled(self, exponent: i32) -> Self {
        let half = exponent / 2;
        self * Self::power_of_two(half) * Self::power_of_two(exponent - half)
    }

    /// The polynomial with these coefficients, constant first, by Horner's scheme.
    fn polynomial(self, coefficients: &[Self]) -> Self {
        coefficients.iter().rev().fold(Self::ZERO, |sum, coefficient| sum * self + *coefficient)
    }
}

macro_rules! format {
    ($type:ident, $bits:ty, $signed:ty, $sqrt_half:literal) => {
        impl Format for $type {
            const FRACTION: u32 = $type::MANTISSA_DIGITS - 1;
            const HALF: Self = 0.5;
            const TWO: Self = 2.0;
            const NAN: Self = $type::NAN;
            const INTEGERS: Self = (1_u64 << Self::FRACTION) as Self;

            #[inline]
            fn magnitude(self) -> Self {
                self.abs()
            }
            #[inline]
            fn with_sign_of(self, sign: Self) -> Self {
                self.copysign(sign)
            }
            #[inline]
            fn is_signed(self) -> bool {
                self.is_sign_negative()
            }
            #[inline]
            fn power_of_two(exponent: i32) -> Self {
                Self::from_bits(((exponent + $type::MAX_EXP - 1) as $bits) << Self::FRACTION)
            }
            fn normalize(self) -> (Self, i32) {
                if self < Self::MIN_POSITIVE {
                    let (fraction, exponent) = (self * Self::INTEGERS).normalize();
                    return (fraction, exponent - Self::FRACTION as i32);
                }
                let exponent = (self.to_bits().wrapping_sub($sqrt_half) as $signed) >> Self::FRACTION;
                let bits = self.to_bits().wrapping_sub((exponent << Self::FRACTION) as $bits);
                (Self::from_bits(bits), exponent as i32)
            }
            fn integer(self) -> (u64, i32) {
                let hidden = 1 << Self::FRACTION;
                let fraction = self.to_bits() & (hidden - 1);
                let exponent = (self.to_bits() >> Self::FRACTION) as i32 - ($type::MAX_EXP - 1);
                (u64::from(fraction | hidden), exponent - Self::FRACTION as i32)
            }
            #[inline]
            fn from_i32(value: i32) -> Self {
                value as Self
            }
            #[inline]
            fn from_u64(value: u64) -> Self {
                value as Self
            }
            #[inline]
            fn to_u64(self) -> u64 {
                self as u64
            }
            #[inline]
            fn to_i32(self) -> i32 {
                self as i32
            }
        }
    };
}
format!(f32, u32, i32, 0x3f35_04f3);
format!(f64, u64, i64, 0x3fe6_a09e_667f_3bcd);

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn normalizing_keeps_the_value() {
        for value in [1.0_f32, 1.5, 0.7, 3e38, f32::MIN_POSITIVE, f32::from_bits(1), f32::from_bits(12345)] {
            let (fraction, exponent) = value.normalize();
            assert!((0.707..1.4143).contains(&fraction), "{value}");
            assert_eq!(f64::from(fraction) * 2.0_f64.powi(exponent), f64::from(value));
        }
    }

    #[test]
    fn an_integer_and_an_exponent_are_the_value() {
        let (integer, exponent) = 6.5_f64.integer();
        assert_eq!(integer as f64 * 2.0_f64.powi(exponent), 6.5);
    }
}
