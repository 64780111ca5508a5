//! Arithmetic on vectors of `i32`.

use core::ops::{Add, Mul, Sub};

/// A vector of `i32`, each lane by itself; what does not fit wraps around.
pub trait Integer: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// A vector of as many `f32`.
    type Float;

    /// The nearest `f32`.
    fn to_float(self) -> Self::Float;
    /// The product with a vector of [`Integer::words`]. Both fit into 16 bits.
    fn mul_words(self, words: Self) -> Self;
    /// Integers that fit into 16 bits, prepared for [`Integer::mul_words`].
    fn words(self) -> Self;
    /// The lesser.
    fn min(self, other: Self) -> Self;
    /// The greater.
    fn max(self, other: Self) -> Self;
}
