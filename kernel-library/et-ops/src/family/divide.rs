//! Division, for means.

use et_core::Number;

/// A number that can be divided.
pub trait Divide: Number {
    /// `self / divisor`; an integer is truncated, and 0 where the divisor is 0.
    fn divided(self, divisor: Self) -> Self;
}

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
