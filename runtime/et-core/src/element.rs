//! The Rust types of the scalar types, and their operations for generic kernels.

use crate::{BFloat16, Half, ScalarType};

/// A tensor element. Sealed: every implementation is in this file.
pub trait Element: Copy + PartialEq + PartialOrd + sealed::Raw + 'static {
    /// The scalar type whose elements these are.
    const TYPE: ScalarType;

    /// C++'s `static_cast` to `double`.
    fn to_f64(self) -> f64;
    /// C++'s `static_cast` to `int64_t`; out of range saturates.
    fn to_i64(self) -> i64;
    /// C++'s `static_cast` from `double`; out of range saturates, and a boolean is whether the number is not 0.
    fn from_f64(value: f64) -> Self;
    /// C++'s `static_cast` from `int64_t`; out of range wraps.
    fn from_i64(value: i64) -> Self;

    /// Converts to another element type as `Tensor.to(dtype)` does.
    #[inline]
    fn cast<T: Element>(self) -> T {
        if Self::TYPE.is_float() || Self::TYPE.is_complex() {
            T::from_f64(self.to_f64())
        } else {
            T::from_i64(self.to_i64())
        }
    }
}

/// An element with arithmetic; integers wrap as in PyTorch.
pub trait Number: Element {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The least value; minus infinity for floating-point types.
    const LOWEST: Self;
    /// The greatest value; infinity for floating-point types.
    const HIGHEST: Self;

    /// `self + other`.
    fn plus(self, other: Self) -> Self;
    /// `self - other`.
    fn minus(self, other: Self) -> Self;
    /// `self * other`.
    fn times(self, other: Self) -> Self;
    /// `-self`.
    fn negated(self) -> Self;
    /// Whether this is not a number.
    fn is_nan(self) -> bool {
        false
    }
}

/// A floating-point element, which is computed in a type of at least 32 bits.
pub trait Float: Number {
    /// `f64` for `f64`, else `f32`.
    type Wide: Float<Wide = Self::Wide>;
    /// The same number in the type that is computed in.
    fn widen(self) -> Self::Wide;
    /// The nearest number of this type.
    fn narrow(wide: Self::Wide) -> Self;
}

pub(crate) mod sealed {
    /// How an element lies in memory.
    pub trait Raw {
        /// A primitive for which every bit pattern is a value.
        type Bits: Copy;
        /// The element that these bits are.
        fn from_bits(bits: Self::Bits) -> Self;
        /// The bits of the element.
        fn into_bits(self) -> Self::Bits;
    }
}

macro_rules! raw_is_self {
    ($($type:ty),*) => { $(
        impl sealed::Raw for $type {
            type Bits = Self;
            #[inline(always)]
            fn from_bits(bits: Self) -> Self { bits }
            #[inline(always)]
            fn into_bits(self) -> Self { self }
        }
    )* };
}
raw_is_self!(u8, i8, i16, i32, i64, f32, f64);

macro_rules! integer {
    ($type:ty, $scalar_type:ident) => {
        impl Element for $type {
            const TYPE: ScalarType = ScalarType::$scalar_type;
            #[inline]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline]
            fn to_i64(self) -> i64 {
                self as i64
            }
            #[inline]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline]
            fn from_i64(value: i64) -> Self {
                value as Self
            }
        }

        impl Number for $type {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LOWEST: Self = Self::MIN;
            const HIGHEST: Self = Self::MAX;
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline]
            fn negated(self) -> Self {
                self.wrapping_neg()
            }
        }
    };
}
integer!(u8, Byte);
integer!(i8, Char);
integer!(i16, Short);
integer!(i32, Int);
integer!(i64, Long);

macro_rules! float {
    ($type:ty, $scalar_type:ident) => {
        impl Element for $type {
            const TYPE: ScalarType = ScalarType::$scalar_type;
            #[inline]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline]
            fn to_i64(self) -> i64 {
                self as i64
            }
            #[inline]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline]
            fn from_i64(value: i64) -> Self {
                value as Self
            }
        }

        impl Number for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const LOWEST: Self = Self::NEG_INFINITY;
            const HIGHEST: Self = Self::INFINITY;
            #[inline]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                self - other
            }
            #[inline]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline]
            fn negated(self) -> Self {
                -self
            }
            #[inline]
            fn is_nan(self) -> bool {
                Self::is_nan(self)
            }
        }

        impl Float for $type {
            type Wide = Self;
            #[inline]
            fn widen(self) -> Self {
                self
            }
            #[inline]
            fn narrow(wide: Self) -> Self {
                wide
            }
        }
    };
}
float!(f32, Float);
float!(f64, Double);

macro_rules! half {
    ($type:ident, $lowest:literal, $highest:literal, $one:literal) => {
        impl PartialOrd for $type {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl sealed::Raw for $type {
            type Bits = u16;
            #[inline(always)]
            fn from_bits(bits: u16) -> Self {
                Self(bits)
            }
            #[inline(always)]
            fn into_bits(self) -> u16 {
                self.0
            }
        }

        impl Element for $type {
            const TYPE: ScalarType = ScalarType::$type;
            #[inline]
            fn to_f64(self) -> f64 {
                f64::from(self.to_f32())
            }
            #[inline]
            fn to_i64(self) -> i64 {
                self.to_f32() as i64
            }
            #[inline]
            fn from_f64(value: f64) -> Self {
                Self::from_f32(value as f32)
            }
            #[inline]
            fn from_i64(value: i64) -> Self {
                Self::from_f32(value as f32)
            }
        }

        impl Number for $type {
            const ZERO: Self = Self(0);
            const ONE: Self = Self($one);
            const LOWEST: Self = Self($lowest);
            const HIGHEST: Self = Self($highest);
            #[inline]
            fn plus(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() + other.to_f32())
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() - other.to_f32())
            }
            #[inline]
            fn times(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() * other.to_f32())
            }
            #[inline]
            fn negated(self) -> Self {
                Self(self.0 ^ 0x8000)
            }
            #[inline]
            fn is_nan(self) -> bool {
                self.to_f32().is_nan()
            }
        }

        impl Float for $type {
            type Wide = f32;
            #[inline]
            fn widen(self) -> f32 {
                self.to_f32()
            }
            #[inline]
            fn narrow(wide: f32) -> Self {
                Self::from_f32(wide)
            }
        }
    };
}
half!(Half, 0xfc00, 0x7c00, 0x3c00);
half!(BFloat16, 0xff80, 0x7f80, 0x3f80);

impl sealed::Raw for bool {
    type Bits = u8;
    #[inline(always)]
    fn from_bits(bits: u8) -> Self {
        bits != 0
    }
    #[inline(always)]
    fn into_bits(self) -> u8 {
        u8::from(self)
    }
}

impl Element for bool {
    const TYPE: ScalarType = ScalarType::Bool;
    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(u8::from(self))
    }
    #[inline]
    fn to_i64(self) -> i64 {
        i64::from(self)
    }
    #[inline]
    fn from_f64(value: f64) -> Self {
        value != 0.0
    }
    #[inline]
    fn from_i64(value: i64) -> Self {
        value != 0
    }
}
