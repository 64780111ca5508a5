//! WebAssembly's vectors (`simd128`): four lanes.
#![allow(unsafe_code)] // Reads and writes through pointers.
#![allow(unused_unsafe)] // Most functions of `core::arch::wasm32` are safe.
#![allow(clippy::cast_ptr_alignment)] // The instructions take any alignment.

use core::arch::wasm32::*;

use crate::four::{first_of_four, write_first};
use crate::operators::{intrinsics, operators};
use crate::{Dot, Float, GemmDot, Integer, Simd, Work, half};

/// WebAssembly's 128-bit vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simd128(());

/// Four `f32`.
#[derive(Clone, Copy, Debug)]
pub struct F32x4(v128);

/// Four `i32`.
#[derive(Clone, Copy, Debug)]
pub struct I32x4(v128);

/// A mask of four lanes, each with every bit set or every bit clear.
#[derive(Clone, Copy, Debug)]
pub struct Mask4(v128);

operators!(F32x4, Add add f32x4_add, Sub sub f32x4_sub, Mul mul f32x4_mul, Div div f32x4_div);
operators!(I32x4, Add add i32x4_add, Sub sub i32x4_sub, Mul mul i32x4_mul);
operators!(I32x4, BitAnd bitand v128_and, BitXor bitxor v128_xor);

impl Float for F32x4 {
    type Integer = I32x4;
    type Mask = Mask4;

    intrinsics! {
        // An instruction of x86-64 each, unlike `f32x4_min` and `f32x4_max`, which are NaN for a NaN on either side.
        fn min(self, other: Self) -> Self = Self(f32x4_pmin(other.0, self.0));
        fn max(self, other: Self) -> Self = Self(f32x4_pmax(other.0, self.0));
        fn sqrt(self) -> Self = Self(f32x4_sqrt(self.0));
        fn abs(self) -> Self = Self(f32x4_abs(self.0));
        fn neg(self) -> Self = Self(f32x4_neg(self.0));
        fn round(self) -> Self = Self(f32x4_nearest(self.0));
        fn mul_add(self, factor: Self, addend: Self) -> Self = addend + self * factor;
        fn neg_mul_add(self, factor: Self, addend: Self) -> Self = addend - self * factor;
        fn copy_sign(self, sign: Self) -> Self = Self(v128_bitselect(sign.0, self.0, f32x4_splat(-0.0)));
        fn to_integer(self) -> I32x4 = I32x4(i32x4_trunc_sat_f32x4(f32x4_nearest(self.0)));
        // The smallest normal `f32` exponent is -126, so that the scaling is split into two factors.
        fn times_power_of_two(self, exponent: Self) -> Self = {
            let exponent = i32x4_trunc_sat_f32x4(f32x4_nearest(exponent.0));
            let half = i32x4_shr(exponent, 1);
            self * power_of_two(half) * power_of_two(i32x4_sub(exponent, half))
        };
        fn is_less(self, other: Self) -> Mask4 = Mask4(f32x4_lt(self.0, other.0));
        fn is_equal(self, other: Self) -> Mask4 = Mask4(f32x4_eq(self.0, other.0));
        fn select(self, mask: Mask4, other: Self) -> Self = Self(v128_bitselect(self.0, other.0, mask.0));
        fn sum(self) -> f32 = {
            let two = f32x4_add(self.0, swap_halves(self.0));
            f32x4_extract_lane::<0>(two) + f32x4_extract_lane::<1>(two)
        };
        fn greatest(self) -> f32 = {
            let two = f32x4_pmax(self.0, swap_halves(self.0));
            f32x4_extract_lane::<0>(two).max(f32x4_extract_lane::<1>(two))
        };
        fn least(self) -> f32 = -self.neg().greatest();
    }
}

intrinsics! {
    /// Two to the power of `exponent`, from -126 to 127.
    fn power_of_two(exponent: v128) -> F32x4 = F32x4(i32x4_shl(i32x4_add(exponent, i32x4_splat(127)), 23));
    /// The upper two lanes, then the lower two.
    fn swap_halves(vector: v128) -> v128 = i64x2_shuffle::<1, 0>(vector, vector);
}

impl Integer for I32x4 {
    type Float = F32x4;

    intrinsics! {
        fn min(self, other: Self) -> Self = Self(i32x4_min(self.0, other.0));
        fn max(self, other: Self) -> Self = Self(i32x4_max(self.0, other.0));
        fn mul_words(self, words: Self) -> Self = Self(i32x4_mul(self.0, words.0));
        fn words(self) -> Self = self;
        fn to_float(self) -> F32x4 = F32x4(f32x4_convert_i32x4(self.0));
        fn shift_right(self, bits: i32) -> Self = Self(i32x4_shr(self.0, bits as u32));
        fn shift_left(self, bits: i32) -> Self = Self(i32x4_shl(self.0, bits as u32));
        fn sum(self) -> i32 = {
            let two = i32x4_add(self.0, swap_halves(self.0));
            i32x4_extract_lane::<0>(two).wrapping_add(i32x4_extract_lane::<1>(two))
        };
    }
}

impl Simd for Simd128 {
    const NAME: &'static str = "simd128";
    const LANES: usize = 4;
    // Those of x86-64 without AVX-512; AArch64 has 32.
    const REGISTERS: usize = 16;
    type F32 = F32x4;
    type I32 = I32x4;
    type Mask = Mask4;

    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        work.run(self)
    }
    intrinsics! {
        fn splat(self, number: f32) -> F32x4 = F32x4(f32x4_splat(number));
        fn splat_i32(self, number: i32) -> I32x4 = I32x4(i32x4_splat(number));
    }
    intrinsics! {
        unsafe fn assume() -> Self = Self(());
        unsafe fn read(self, from: *const f32) -> F32x4 = F32x4(v128_load(from.cast()));
        unsafe fn read_part(self, from: *const f32, count: usize) -> F32x4 = {
            if count >= 4 {
                return self.read(from);
            }
            self.read(first_of_four(from, count).as_ptr())
        };
        unsafe fn write(self, to: *mut f32, vector: F32x4) = v128_store(to.cast(), vector.0);
        unsafe fn write_part(self, to: *mut f32, count: usize, vector: F32x4) = {
            if count >= 4 {
                return self.write(to, vector);
            }
            let mut lanes = [0.0; 4];
            self.write(lanes.as_mut_ptr(), vector);
            write_first(lanes, to, count);
        };
        unsafe fn read_i32(self, from: *const i32) -> I32x4 = I32x4(v128_load(from.cast()));
        unsafe fn write_i32(self, to: *mut i32, vector: I32x4) = v128_store(to.cast(), vector.0);
        unsafe fn read_halves(self, from: *const u16) -> F32x4 = {
            let bits = i32x4_shl(i32x4_extend_low_i16x8(v128_load64_zero(from.cast())), 13);
            F32x4(f32x4_mul(v128_and(bits, i32x4_splat(half::PLACES)), f32x4_splat(half::EXPONENT)))
        };
        unsafe fn read_bfloats(self, from: *const u16) -> F32x4 =
            F32x4(i32x4_shl(i32x4_extend_low_i16x8(v128_load64_zero(from.cast())), 16));
        unsafe fn read_i8(self, from: *const i8) -> I32x4 =
            I32x4(i32x4_extend_low_i16x8(i16x8_extend_low_i8x16(v128_load32_zero(from.cast()))));
        unsafe fn read_u8(self, from: *const u8) -> I32x4 =
            I32x4(u32x4_extend_low_u16x8(u16x8_extend_low_u8x16(v128_load32_zero(from.cast()))));
        unsafe fn write_i8(self, to: *mut i8, vector: I32x4) = {
            let words = i16x8_narrow_i32x4(vector.0, vector.0);
            v128_store32_lane::<0>(i8x16_narrow_i16x8(words, words), to.cast());
        };
        unsafe fn transpose(self, from: *const f32, from_step: usize, to: *mut f32, to_step: usize) = {
            let row = |row: usize| v128_load(from.add(row * from_step).cast());
            let write = |column: usize, vector: v128| v128_store(to.add(column * to_step).cast(), vector);
            let [even, odd] = [pairs_of::<0>(row(0), row(1)), pairs_of::<1>(row(0), row(1))];
            let [next_even, next_odd] = [pairs_of::<0>(row(2), row(3)), pairs_of::<1>(row(2), row(3))];
            write(0, i64x2_shuffle::<0, 2>(even, next_even));
            write(1, i64x2_shuffle::<0, 2>(odd, next_odd));
            write(2, i64x2_shuffle::<1, 3>(even, next_even));
            write(3, i64x2_shuffle::<1, 3>(odd, next_odd));
        };
    }
}

/// Lanes 0 and 2 (`ODD` is 0) or 1 and 3 (`ODD` is 1) of two vectors, in turns.
#[inline(always)]
fn pairs_of<const ODD: usize>(first: v128, second: v128) -> v128 {
    match ODD {
        0 => i32x4_shuffle::<0, 4, 2, 6>(first, second),
        _ => i32x4_shuffle::<1, 5, 3, 7>(first, second),
    }
}

impl Dot for Simd128 {
    type Isa = Self;
    #[inline(always)]
    fn isa(self) -> Self {
        self
    }
}

/// Bytes 0 and 1 of each lane, then bytes 2 and 3, widened to `i16`: `i32x4_dot_i16x8` multiplies and adds pairs.
impl GemmDot for Simd128 {
    type Weights = [v128; 2];
    type Activation = [v128; 2];
    intrinsics! {
        unsafe fn weights(bytes: I32x4) -> Self::Weights = {
            let pairs = i16x8_shuffle::<0, 2, 4, 6, 1, 3, 5, 7>(bytes.0, bytes.0);
            [i16x8_extend_low_i8x16(pairs), i16x8_extend_high_i8x16(pairs)]
        };
        unsafe fn activation(bytes: I32x4) -> Self::Activation = Self::weights(bytes);
        unsafe fn add(sum: I32x4, weights: Self::Weights, activation: Self::Activation) -> I32x4 = {
            let sum = i32x4_add(sum.0, i32x4_dot_i16x8(weights[0], activation[0]));
            I32x4(i32x4_add(sum, i32x4_dot_i16x8(weights[1], activation[1])))
        };
    }
}
