//! Arithmetic on vectors of `i32`.

use core::ops::{Add, BitAnd, BitXor, Mul, Sub};

/// A vector of `i32` with lanewise wrapping arithmetic.
pub trait Integer:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + BitAnd<Output = Self> + BitXor<Output = Self>
{
    /// The `f32` vector of the same length.
    type Float;

    /// Converts to the nearest `f32`.
    fn to_float(self) -> Self::Float;
    /// Shifts right by `bits`, from 0 to 31, and repeats the sign.
    fn shift_right(self, bits: i32) -> Self;
    /// Shifts left by `bits`, from 0 to 31.
    fn shift_left(self, bits: i32) -> Self;
    /// The product with a vector of [`Integer::words`]. Both operands are in the 16-bit range.
    fn mul_words(self, words: Self) -> Self;
    /// Prepares 16-bit integers as the operand of [`Integer::mul_words`].
    fn words(self) -> Self;
    /// The minimum.
    fn min(self, other: Self) -> Self;
    /// The maximum.
    fn max(self, other: Self) -> Self;
    /// The horizontal sum.
    fn sum(self) -> i32;
}
