//! Portable vectors: arrays that the compiler may vectorize, for architectures without SIMD support in this crate.
#![allow(unsafe_code)] // Implements reads and writes through pointers.
#![allow(unused_unsafe)] // The macro for methods is made for intrinsics.
#![allow(clippy::needless_range_loop)]

use core::array::from_fn;
use core::ops::{Add, BitAnd, BitXor, Div, Mul, Sub};

use crate::operators::intrinsics;
use crate::{Dot, Float, GemmDot, Integer, Simd, Work, half};

const LANES: usize = 4;

/// Portable Rust without intrinsics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portable;

/// Four `f32`.
#[derive(Clone, Copy, Debug)]
pub struct Floats([f32; LANES]);

/// Four `i32`.
#[derive(Clone, Copy, Debug)]
pub struct Integers([i32; LANES]);

/// The array of `$value` for each lane.
macro_rules! lanes {
    (|$lane:ident| $value:expr) => {
        from_fn(
            #[inline(always)]
            |$lane| $value,
        )
    };
}

macro_rules! operators {
    ($type:ident, $($operator:ident $method:ident |$left:ident, $right:ident| $value:expr;)*) => { $(
        impl $operator for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(lanes!(|lane| {
                    let ($left, $right) = (self.0[lane], other.0[lane]);
                    $value
                }))
            }
        }
    )* };
}

operators! { Floats,
    Add add |left, right| left + right;
    Sub sub |left, right| left - right;
    Mul mul |left, right| left * right;
    Div div |left, right| left / right;
}

operators! { Integers,
    Add add |left, right| left.wrapping_add(right);
    Sub sub |left, right| left.wrapping_sub(right);
    Mul mul |left, right| left.wrapping_mul(right);
    BitAnd bitand |left, right| left & right;
    BitXor bitxor |left, right| left ^ right;
}

impl Float for Floats {
    type Integer = Integers;
    type Mask = [bool; LANES];

    intrinsics! {
        fn mul_add(self, factor: Self, addend: Self) -> Self = self * factor + addend;
        fn neg_mul_add(self, factor: Self, addend: Self) -> Self = addend - self * factor;
        fn min(self, other: Self) -> Self = self.select(self.is_less(other), other);
        fn max(self, other: Self) -> Self = self.select(other.is_less(self), other);
        fn abs(self) -> Self = Self(lanes!(|lane| self.0[lane].abs()));
        fn neg(self) -> Self = Self(lanes!(|lane| -self.0[lane]));
        fn copy_sign(self, sign: Self) -> Self = Self(lanes!(|lane| self.0[lane].copysign(sign.0[lane])));
        fn sqrt(self) -> Self = Self(lanes!(|lane| square_root(self.0[lane])));
        fn round(self) -> Self = Self(lanes!(|lane| (self.0[lane] + ROUNDER) - ROUNDER));
        fn to_integer(self) -> Integers = Integers(lanes!(|lane| nearest(self.0[lane])));
        fn times_power_of_two(self, exponent: Self) -> Self = Self(lanes!(|lane| {
            let exponent = exponent.0[lane] as i32;
            let half = exponent >> 1;
            self.0[lane] * power_of_two(half) * power_of_two(exponent - half)
        }));
        fn is_less(self, other: Self) -> [bool; LANES] = lanes!(|lane| self.0[lane] < other.0[lane]);
        fn is_equal(self, other: Self) -> [bool; LANES] = lanes!(|lane| self.0[lane] == other.0[lane]);
        fn select(self, mask: [bool; LANES], other: Self) -> Self =
            Self(lanes!(|lane| if mask[lane] { self.0[lane] } else { other.0[lane] }));
        fn sum(self) -> f32 = (self.0[0] + self.0[2]) + (self.0[1] + self.0[3]);
        fn greatest(self) -> f32 = self.0.into_iter().fold(f32::NEG_INFINITY, f32::max);
        fn least(self) -> f32 = self.0.into_iter().fold(f32::INFINITY, f32::min);
    }
}

/// An `f32` of this magnitude has no fraction bits, so that the addition of a smaller number rounds to an integer.
const ROUNDER: f32 = 12_582_912.0;

/// Two to the power of `exponent`, clamped to the range from -126 to 127.
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent.clamp(-126, 127) + 127) as u32) << 23)
}

/// The nearest integer, ties to even.
fn nearest(number: f32) -> i32 {
    const EXACT: f32 = 4_194_304.0;
    if number.abs() < EXACT { ((number + ROUNDER) - ROUNDER) as i32 } else { number as i32 }
}

/// The square root within 1 or 2 ULP: a bit-level estimate, refined by Heron's method.
fn square_root(number: f32) -> f32 {
    if number == 0.0 || number.is_nan() || number == f32::INFINITY {
        return number;
    }
    if number < 0.0 {
        return f32::NAN;
    }
    let number = f64::from(number);
    let mut root = f64::from_bits((number.to_bits() >> 1) + (0x1FF8 << 48));
    for _ in 0..4 {
        root = 0.5 * (root + number / root);
    }
    root as f32
}

impl Integer for Integers {
    type Float = Floats;

    intrinsics! {
        fn mul_words(self, words: Self) -> Self = self * words;
        fn words(self) -> Self = self;
        fn shift_right(self, bits: i32) -> Self = Self(lanes!(|lane| self.0[lane] >> bits));
        fn shift_left(self, bits: i32) -> Self = Self(lanes!(|lane| self.0[lane] << bits));
        fn to_float(self) -> Floats = Floats(lanes!(|lane| self.0[lane] as f32));
        fn min(self, other: Self) -> Self = Self(lanes!(|lane| Ord::min(self.0[lane], other.0[lane])));
        fn max(self, other: Self) -> Self = Self(lanes!(|lane| Ord::max(self.0[lane], other.0[lane])));
        fn sum(self) -> i32 = self.0.into_iter().fold(0, i32::wrapping_add);
    }
}

impl Simd for Portable {
    const NAME: &'static str = "portable";
    const LANES: usize = LANES;
    const REGISTERS: usize = 16;
    type F32 = Floats;
    type I32 = Integers;
    type Mask = [bool; LANES];

    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        work.run(self)
    }
    intrinsics! {
        fn splat(self, number: f32) -> Floats = Floats([number; LANES]);
        fn splat_i32(self, number: i32) -> Integers = Integers([number; LANES]);
    }
    intrinsics! {
        unsafe fn assume() -> Self = Self;
        unsafe fn read(self, from: *const f32) -> Floats = Floats(from.cast::<[f32; LANES]>().read_unaligned());
        unsafe fn read_part(self, from: *const f32, count: usize) -> Floats =
            Floats(lanes!(|lane| if lane < count { *from.add(lane) } else { 0.0 }));
        unsafe fn write(self, to: *mut f32, vector: Floats) =
            to.cast::<[f32; LANES]>().write_unaligned(vector.0);
        unsafe fn write_part(self, to: *mut f32, count: usize, vector: Floats) = for lane in 0..count.min(LANES) {
            *to.add(lane) = vector.0[lane];
        };
        unsafe fn read_i32(self, from: *const i32) -> Integers =
            Integers(from.cast::<[i32; LANES]>().read_unaligned());
        unsafe fn write_i32(self, to: *mut i32, vector: Integers) =
            to.cast::<[i32; LANES]>().write_unaligned(vector.0);
        unsafe fn read_halves(self, from: *const u16) -> Floats =
            Floats(lanes!(|lane| half::widen(from.add(lane).read_unaligned())));
        unsafe fn read_bfloats(self, from: *const u16) -> Floats =
            Floats(lanes!(|lane| f32::from_bits(u32::from(from.add(lane).read_unaligned()) << 16)));
        unsafe fn read_i8(self, from: *const i8) -> Integers = Integers(lanes!(|lane| i32::from(*from.add(lane))));
        unsafe fn read_u8(self, from: *const u8) -> Integers = Integers(lanes!(|lane| i32::from(*from.add(lane))));
        unsafe fn write_i8(self, to: *mut i8, vector: Integers) =
            to.cast::<[i8; LANES]>().write_unaligned(lanes!(|lane| vector.0[lane].clamp(-128, 127) as i8));
    }
}

impl Dot for Portable {
    type Isa = Self;
    #[inline(always)]
    fn isa(self) -> Self {
        self
    }
}

impl GemmDot for Portable {
    type Weights = [[i8; 4]; LANES];
    type Activation = [[i8; 4]; LANES];
    intrinsics! {
        unsafe fn weights(bytes: Integers) -> Self::Weights =
            lanes!(|lane| bytes.0[lane].to_ne_bytes().map(u8::cast_signed));
        unsafe fn activation(bytes: Integers) -> Self::Activation = Self::weights(bytes);
        unsafe fn add(sum: Integers, weights: Self::Weights, activation: Self::Activation) -> Integers = {
            let product = |lane: usize, byte: usize| i32::from(weights[lane][byte]) * i32::from(activation[lane][byte]);
            Integers(from_fn(|lane| (0..4).fold(sum.0[lane], |sum, byte| sum.wrapping_add(product(lane, byte)))))
        };
    }
}
