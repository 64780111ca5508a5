//! Arithmetic on vectors of `f32`.

use core::ops::{Add, Div, Mul, Sub};

/// A vector of `f32` with lanewise arithmetic.
pub trait Float: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    /// The `i32` vector of the same length.
    type Integer;
    /// The lane mask.
    type Mask: Copy;

    /// `self * factor + addend`, fused where the ISA has FMA.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// `addend - self * factor`, fused where the ISA has FMA.
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self;
    /// The minimum. NaN if `other` is NaN; if `self` is NaN, either operand.
    fn min(self, other: Self) -> Self;
    /// The maximum. NaN if `other` is NaN; if `self` is NaN, either operand.
    fn max(self, other: Self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// The negation.
    fn neg(self) -> Self;
    /// The magnitude of `self` with the sign of `sign`.
    fn copy_sign(self, sign: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// Rounds to the nearest integer, ties to even, for magnitudes below 2^22.
    fn round(self) -> Self;
    /// Converts to the nearest `i32`, ties to even, for magnitudes below 2^31.
    fn to_integer(self) -> Self::Integer;
    /// `self * 2^exponent` for integral exponents between -250 and 250.
    fn times_power_of_two(self, exponent: Self) -> Self;
    /// `self < other`; false for NaN.
    fn is_less(self, other: Self) -> Self::Mask;
    /// `self == other`; false for NaN.
    fn is_equal(self, other: Self) -> Self::Mask;
    /// `self` where the mask is set, otherwise `other`.
    fn select(self, mask: Self::Mask, other: Self) -> Self;
    /// The horizontal sum.
    fn sum(self) -> f32;
    /// The horizontal maximum, for lanes without NaN.
    fn greatest(self) -> f32;
    /// The horizontal minimum, for lanes without NaN.
    fn least(self) -> f32;
}
