//! Portable vectors: arrays that the compiler may vectorize, for architectures without SIMD support in this crate.
#![allow(unsafe_code)] // Implements reads and writes through pointers.
#![allow(clippy::needless_range_loop)]

use core::array::from_fn;
use core::ops::{Add, BitAnd, BitXor, Div, Mul, Sub};

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

macro_rules! operators {
    ($($operator:ident $method:ident $symbol:tt $wrapping:ident),*) => { $(
        impl $operator for Floats {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(from_fn(#[inline(always)] |lane| self.0[lane] $symbol other.0[lane]))
            }
        }
        impl $operator for Integers {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(from_fn(#[inline(always)] |lane| self.0[lane].$wrapping(other.0[lane])))
            }
        }
    )* };
}
operators!(Add add + wrapping_add, Sub sub - wrapping_sub, Mul mul * wrapping_mul);

macro_rules! bitwise {
    ($($operator:ident $method:ident $symbol:tt),*) => { $(
        impl $operator for Integers {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(from_fn(#[inline(always)] |lane| self.0[lane] $symbol other.0[lane]))
            }
        }
    )* };
}
bitwise!(BitAnd bitand &, BitXor bitxor ^);

impl Div for Floats {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(from_fn(
            #[inline(always)]
            |lane| self.0[lane] / other.0[lane],
        ))
    }
}

impl Floats {
    #[inline(always)]
    fn map(self, function: impl Fn(f32) -> f32) -> Self {
        Self(from_fn(
            #[inline(always)]
            |lane| function(self.0[lane]),
        ))
    }
    #[inline(always)]
    fn zip(self, other: Self, function: impl Fn(f32, f32) -> f32) -> Self {
        Self(from_fn(
            #[inline(always)]
            |lane| function(self.0[lane], other.0[lane]),
        ))
    }
}

impl Float for Floats {
    type Integer = Integers;
    type Mask = [bool; LANES];

    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        self * factor + addend
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self {
        addend - self * factor
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(
            other,
            #[inline(always)]
            |left, right| if left < right { left } else { right },
        )
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(
            other,
            #[inline(always)]
            |left, right| if left > right { left } else { right },
        )
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.map(f32::abs)
    }
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(
            #[inline(always)]
            |number| -number,
        )
    }
    #[inline(always)]
    fn copy_sign(self, sign: Self) -> Self {
        self.zip(sign, f32::copysign)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(square_root)
    }
    #[inline(always)]
    fn round(self) -> Self {
        // An `f32` of this magnitude has no fraction bits, so that the addition rounds to an integer.
        const LARGE: f32 = 12_582_912.0;
        self.map(
            #[inline(always)]
            |number| (number + LARGE) - LARGE,
        )
    }
    #[inline(always)]
    fn to_integer(self) -> Integers {
        Integers(from_fn(
            #[inline(always)]
            |lane| nearest(self.0[lane]),
        ))
    }
    #[inline(always)]
    fn times_power_of_two(self, exponent: Self) -> Self {
        self.zip(
            exponent,
            #[inline(always)]
            |number, exponent| {
                let exponent = exponent as i32;
                let half = exponent >> 1;
                number * power_of_two(half) * power_of_two(exponent - half)
            },
        )
    }
    #[inline(always)]
    fn is_less(self, other: Self) -> [bool; LANES] {
        from_fn(
            #[inline(always)]
            |lane| self.0[lane] < other.0[lane],
        )
    }
    #[inline(always)]
    fn is_equal(self, other: Self) -> [bool; LANES] {
        from_fn(
            #[inline(always)]
            |lane| self.0[lane] == other.0[lane],
        )
    }
    #[inline(always)]
    fn select(self, mask: [bool; LANES], other: Self) -> Self {
        Self(from_fn(
            #[inline(always)]
            |lane| if mask[lane] { self.0[lane] } else { other.0[lane] },
        ))
    }
    #[inline(always)]
    fn sum(self) -> f32 {
        let [a, b, c, d] = self.0;
        (a + c) + (b + d)
    }
    #[inline(always)]
    fn greatest(self) -> f32 {
        self.0.into_iter().fold(f32::NEG_INFINITY, f32::max)
    }
    #[inline(always)]
    fn least(self) -> f32 {
        self.0.into_iter().fold(f32::INFINITY, f32::min)
    }
}

/// Two to the power of `exponent`, clamped to the range from -126 to 127.
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent.clamp(-126, 127) + 127) as u32) << 23)
}

/// The nearest integer, ties to even.
fn nearest(number: f32) -> i32 {
    const EXACT: f32 = 4_194_304.0;
    if number.abs() < EXACT { Floats([number; LANES]).round().0[0] as i32 } else { number as i32 }
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

    #[inline(always)]
    fn mul_words(self, words: Self) -> Self {
        self * words
    }
    #[inline(always)]
    fn words(self) -> Self {
        self
    }
    #[inline(always)]
    fn shift_right(self, bits: i32) -> Self {
        Self(self.0.map(
            #[inline(always)]
            |lane| lane >> bits,
        ))
    }

    #[inline(always)]
    fn to_float(self) -> Floats {
        Floats(from_fn(
            #[inline(always)]
            |lane| self.0[lane] as f32,
        ))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(from_fn(
            #[inline(always)]
            |lane| Ord::min(self.0[lane], other.0[lane]),
        ))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(from_fn(
            #[inline(always)]
            |lane| Ord::max(self.0[lane], other.0[lane]),
        ))
    }
    #[inline(always)]
    fn sum(self) -> i32 {
        self.0.into_iter().fold(0, i32::wrapping_add)
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
    unsafe fn assume() -> Self {
        Self
    }
    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        work.run(self)
    }
    #[inline(always)]
    fn splat(self, number: f32) -> Floats {
        Floats([number; LANES])
    }
    #[inline(always)]
    fn splat_i32(self, number: i32) -> Integers {
        Integers([number; LANES])
    }
    #[inline(always)]
    unsafe fn read(self, from: *const f32) -> Floats {
        // SAFETY: the caller guarantees pointers to a vector's lanes. The same argument holds for the methods below.
        Floats(unsafe { from.cast::<[f32; LANES]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn read_part(self, from: *const f32, count: usize) -> Floats {
        let mut floats = [0.0; LANES];
        for lane in 0..count.min(LANES) {
            // SAFETY: as above.
            floats[lane] = unsafe { *from.add(lane) };
        }
        Floats(floats)
    }
    #[inline(always)]
    unsafe fn write(self, to: *mut f32, vector: Floats) {
        // SAFETY: as above.
        unsafe { to.cast::<[f32; LANES]>().write_unaligned(vector.0) }
    }
    #[inline(always)]
    unsafe fn write_part(self, to: *mut f32, count: usize, vector: Floats) {
        for lane in 0..count.min(LANES) {
            // SAFETY: as above.
            unsafe { *to.add(lane) = vector.0[lane] }
        }
    }
    #[inline(always)]
    unsafe fn read_i32(self, from: *const i32) -> Integers {
        // SAFETY: as above.
        Integers(unsafe { from.cast::<[i32; LANES]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn write_i32(self, to: *mut i32, vector: Integers) {
        // SAFETY: as above.
        unsafe { to.cast::<[i32; LANES]>().write_unaligned(vector.0) }
    }
    #[inline(always)]
    unsafe fn read_halves(self, from: *const u16) -> Floats {
        // SAFETY: as above.
        Floats(unsafe { from.cast::<[u16; LANES]>().read_unaligned() }.map(half::widen))
    }
    #[inline(always)]
    unsafe fn read_i8(self, from: *const i8) -> Integers {
        // SAFETY: as above.
        let bytes = unsafe { from.cast::<[i8; LANES]>().read_unaligned() };
        Integers(bytes.map(i32::from))
    }
    #[inline(always)]
    unsafe fn read_u8(self, from: *const u8) -> Integers {
        // SAFETY: as above.
        let bytes = unsafe { from.cast::<[u8; LANES]>().read_unaligned() };
        Integers(bytes.map(i32::from))
    }
    #[inline(always)]
    unsafe fn write_i8(self, to: *mut i8, vector: Integers) {
        let bytes = vector.0.map(
            #[inline(always)]
            |lane| lane.clamp(-128, 127) as i8,
        );
        // SAFETY: as above.
        unsafe { to.cast::<[i8; LANES]>().write_unaligned(bytes) }
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
    #[inline(always)]
    unsafe fn weights(bytes: Integers) -> Self::Weights {
        bytes.0.map(|word| word.to_ne_bytes().map(u8::cast_signed))
    }
    #[inline(always)]
    unsafe fn activation(bytes: Integers) -> Self::Activation {
        // SAFETY: no instruction of this ISA needs a feature of the CPU.
        unsafe { Self::weights(bytes) }
    }
    #[inline(always)]
    unsafe fn add(sum: Integers, weights: Self::Weights, activation: Self::Activation) -> Integers {
        let product = |lane: usize, index: usize| i32::from(weights[lane][index]) * i32::from(activation[lane][index]);
        Integers(from_fn(|lane| (0..4).fold(sum.0[lane], |sum, index| sum.wrapping_add(product(lane, index)))))
    }
}
