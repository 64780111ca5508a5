//! The dtype that an operator computes in: PyTorch's opmath type.

use et_core::{BFloat16, Float, Half, Number};

use super::divide::Divide;

/// A number with the type that operators compute in: `f32` for 16-bit floating-point numbers, else the type itself.
pub trait Opmath: Number {
    /// The type computed in.
    type Math: Divide;
    /// The same number in the opmath type.
    fn raise(self) -> Self::Math;
    /// The nearest number of this type.
    fn lower(result: Self::Math) -> Self;
}

/// An element that is read as a number of type `M`.
pub trait Raise<M>: Number {
    /// The same number.
    fn raised(self) -> M;
}

impl<T: Opmath> Raise<T::Math> for T {
    #[inline]
    fn raised(self) -> T::Math {
        self.raise()
    }
}

impl Raise<f32> for i8 {
    #[inline]
    fn raised(self) -> f32 {
        self.into()
    }
}

macro_rules! itself {
    ($($type:ty),*) => { $(
        impl Opmath for $type {
            type Math = Self;
            #[inline]
            fn raise(self) -> Self { self }
            #[inline]
            fn lower(result: Self) -> Self { result }
        }
    )* };
}
itself!(u8, i8, i16, i32, i64, f32, f64);

macro_rules! wide {
    ($($type:ty),*) => { $(
        impl Opmath for $type {
            type Math = f32;
            #[inline]
            fn raise(self) -> f32 { self.widen() }
            #[inline]
            fn lower(result: f32) -> Self { Self::narrow(result) }
        }
    )* };
}
wide!(Half, BFloat16);
