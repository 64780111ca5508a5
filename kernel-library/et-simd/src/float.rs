//! Arithmetic on vectors of `f32`.

use core::ops::{Add, Div, Mul, Sub};

/// A vector of `f32`, each lane by itself.
pub trait Float: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    /// A vector of as many `i32`.
    type Integer;
    /// A truth for every lane.
    type Mask: Copy;

    /// `self * factor + addend`, rounded once where the instructions can, else twice.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// `addend - self * factor`, rounded once where the instructions can, else twice.
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self;
    /// The lesser. Where `other` is NaN, the result is; where `self` is, the result is one of both.
    fn min(self, other: Self) -> Self;
    /// The greater. Where `other` is NaN, the result is; where `self` is, the result is one of both.
    fn max(self, other: Self) -> Self;
    /// Without the sign.
    fn abs(self) -> Self;
    /// With the other sign.
    fn neg(self) -> Self;
    /// With the sign of another.
    fn copy_sign(self, sign: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The nearest whole number, the even one of two. Of magnitudes below 2^22.
    fn round(self) -> Self;
    /// The nearest integer, the even one of two. Of magnitudes below 2^31.
    fn to_integer(self) -> Self::Integer;
    /// Times two to a whole `exponent` between -250 and 250.
    fn times_power_of_two(self, exponent: Self) -> Self;
    /// Where it is less than another; not where one is NaN.
    fn is_less(self, other: Self) -> Self::Mask;
    /// Where it equals another; not where one is NaN.
    fn is_equal(self, other: Self) -> Self::Mask;
    /// `self` where the mask is true, else `other`.
    fn select(self, mask: Self::Mask, other: Self) -> Self;
    /// The sum of all lanes.
    fn sum(self) -> f32;
    /// The greatest lane, if none is NaN.
    fn greatest(self) -> f32;
    /// The least lane, if none is NaN.
    fn least(self) -> f32;
}
