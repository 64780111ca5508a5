//! The types that sums are kept in.

use et_core::{BFloat16, Float, Half, Number};

/// A number with the type in which sums of it are kept: 16-bit floating-point numbers sum up as `f32`.
pub trait Accumulate: Number {
    /// The type of the sum.
    type Sum: Divide;
    /// The element as the start of a sum.
    fn open(self) -> Self::Sum;
    /// The sum as an element.
    fn close(sum: Self::Sum) -> Self;
}

/// A number that can be divided.
pub trait Divide: Number {
    /// `self / divisor`; an integer is truncated, and 0 where the divisor is 0.
    fn divided(self, divisor: Self) -> Self;
}

macro_rules! sums_as_itself {
    ($($type:ty),*) => { $(
        impl Accumulate for $type {
            type Sum = Self;
            #[inline(always)]
            fn open(self) -> Self { self }
            #[inline(always)]
            fn close(sum: Self) -> Self { sum }
        }
    )* };
}
sums_as_itself!(u8, i8, i16, i32, i64, f32, f64);

macro_rules! sums_as_single {
    ($($type:ty),*) => { $(
        impl Accumulate for $type {
            type Sum = f32;
            #[inline(always)]
            fn open(self) -> f32 { self.widen() }
            #[inline(always)]
            fn close(sum: f32) -> Self { Self::narrow(sum) }
        }
    )* };
}
sums_as_single!(Half, BFloat16);

macro_rules! divides_truncating {
    ($($type:ty),*) => { $(
        impl Divide for $type {
            #[inline]
            fn divided(self, divisor: Self) -> Self { self.checked_div(divisor).unwrap_or(0) }
        }
    )* };
}
divides_truncating!(u8, i8, i16, i32, i64);

macro_rules! divides {
    ($($type:ty),*) => { $(
        impl Divide for $type {
            #[inline]
            fn divided(self, divisor: Self) -> Self { self / divisor }
        }
    )* };
}
divides!(f32, f64);
