//! Advanced SIMD (Neon), part of every AArch64 application CPU: four lanes.
#![allow(unsafe_code)] // Calls functions of `core::arch`, some of which read and write through pointers.
#![allow(unused_unsafe)] // Where they are compiled for in any case, calling them is safe.

use core::arch::aarch64::*;

mod dot;

pub use dot::NeonDot;

use crate::four::{first_of_four, write_first};
use crate::operators::{intrinsics, operators};
use crate::{Float, Integer, Simd, Work, half};

/// Advanced SIMD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neon(());

/// Four `f32`.
#[derive(Clone, Copy, Debug)]
pub struct F32x4(float32x4_t);

/// Four `i32`.
#[derive(Clone, Copy, Debug)]
pub struct I32x4(int32x4_t);

/// A mask of four lanes, each with every bit set or every bit clear.
#[derive(Clone, Copy, Debug)]
pub struct Mask4(uint32x4_t);

operators!(F32x4, Add add vaddq_f32, Sub sub vsubq_f32, Mul mul vmulq_f32, Div div vdivq_f32);
operators!(I32x4, Add add vaddq_s32, Sub sub vsubq_s32, Mul mul vmulq_s32);
operators!(I32x4, BitAnd bitand vandq_s32, BitXor bitxor veorq_s32);

impl Float for F32x4 {
    type Integer = I32x4;
    type Mask = Mask4;

    intrinsics! {
        fn min(self, other: Self) -> Self = Self(vminq_f32(self.0, other.0));
        fn max(self, other: Self) -> Self = Self(vmaxq_f32(self.0, other.0));
        fn sqrt(self) -> Self = Self(vsqrtq_f32(self.0));
        fn abs(self) -> Self = Self(vabsq_f32(self.0));
        fn neg(self) -> Self = Self(vnegq_f32(self.0));
        fn round(self) -> Self = Self(vrndnq_f32(self.0));
        fn mul_add(self, factor: Self, addend: Self) -> Self = Self(vfmaq_f32(addend.0, self.0, factor.0));
        fn neg_mul_add(self, factor: Self, addend: Self) -> Self = Self(vfmsq_f32(addend.0, self.0, factor.0));
        fn copy_sign(self, sign: Self) -> Self = Self(vbslq_f32(vdupq_n_u32(1 << 31), sign.0, self.0));
        fn to_integer(self) -> I32x4 = I32x4(vcvtnq_s32_f32(self.0));
        // The smallest normal `f32` exponent is -126, so that the scaling is split into two factors.
        fn times_power_of_two(self, exponent: Self) -> Self = {
            let exponent = vcvtnq_s32_f32(exponent.0);
            let half = vshrq_n_s32::<1>(exponent);
            self * power_of_two(half) * power_of_two(vsubq_s32(exponent, half))
        };
        fn is_less(self, other: Self) -> Mask4 = Mask4(vcltq_f32(self.0, other.0));
        fn is_equal(self, other: Self) -> Mask4 = Mask4(vceqq_f32(self.0, other.0));
        fn select(self, mask: Mask4, other: Self) -> Self = Self(vbslq_f32(mask.0, self.0, other.0));
        fn sum(self) -> f32 = vaddvq_f32(self.0);
        fn greatest(self) -> f32 = vmaxvq_f32(self.0);
        fn least(self) -> f32 = vminvq_f32(self.0);
    }
}

intrinsics! {
    /// Two to the power of `exponent`, from -126 to 127.
    fn power_of_two(exponent: int32x4_t) -> F32x4 =
        F32x4(vreinterpretq_f32_s32(vshlq_n_s32::<23>(vaddq_s32(exponent, vdupq_n_s32(127)))));
}

impl Integer for I32x4 {
    type Float = F32x4;

    intrinsics! {
        fn min(self, other: Self) -> Self = Self(vminq_s32(self.0, other.0));
        fn max(self, other: Self) -> Self = Self(vmaxq_s32(self.0, other.0));
        fn mul_words(self, words: Self) -> Self = Self(vmulq_s32(self.0, words.0));
        fn words(self) -> Self = self;
        fn to_float(self) -> F32x4 = F32x4(vcvtq_f32_s32(self.0));
        fn shift_right(self, bits: i32) -> Self = Self(vshlq_s32(self.0, vdupq_n_s32(-bits)));
        fn shift_left(self, bits: i32) -> Self = Self(vshlq_s32(self.0, vdupq_n_s32(bits)));
        fn sum(self) -> i32 = vaddvq_s32(self.0);
    }
}

impl Simd for Neon {
    const NAME: &'static str = "neon";
    const LANES: usize = 4;
    const REGISTERS: usize = 32;
    type F32 = F32x4;
    type I32 = I32x4;
    type Mask = Mask4;

    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        work.run(self)
    }
    intrinsics! {
        fn splat(self, number: f32) -> F32x4 = F32x4(vdupq_n_f32(number));
        fn splat_i32(self, number: i32) -> I32x4 = I32x4(vdupq_n_s32(number));
    }
    intrinsics! {
        unsafe fn assume() -> Self = Self(());
        unsafe fn read(self, from: *const f32) -> F32x4 = F32x4(vld1q_f32(from));
        unsafe fn read_part(self, from: *const f32, count: usize) -> F32x4 = {
            if count >= 4 {
                return self.read(from);
            }
            self.read(first_of_four(from, count).as_ptr())
        };
        unsafe fn write(self, to: *mut f32, vector: F32x4) = vst1q_f32(to, vector.0);
        unsafe fn write_part(self, to: *mut f32, count: usize, vector: F32x4) = {
            if count >= 4 {
                return self.write(to, vector);
            }
            let mut lanes = [0.0; 4];
            self.write(lanes.as_mut_ptr(), vector);
            write_first(lanes, to, count);
        };
        unsafe fn read_i32(self, from: *const i32) -> I32x4 = I32x4(vld1q_s32(from));
        unsafe fn write_i32(self, to: *mut i32, vector: I32x4) = vst1q_s32(to, vector.0);
        // By bit manipulation, because the intrinsic for fp16 conversion is not stable.
        unsafe fn read_halves(self, from: *const u16) -> F32x4 = {
            let bits = vshlq_n_s32::<13>(vmovl_s16(vld1_s16(from.cast())));
            let number = vreinterpretq_f32_s32(vandq_s32(bits, vdupq_n_s32(half::PLACES)));
            F32x4(vmulq_n_f32(number, half::EXPONENT))
        };
        unsafe fn read_bfloats(self, from: *const u16) -> F32x4 =
            F32x4(vreinterpretq_f32_s32(vshlq_n_s32::<16>(vmovl_s16(vld1_s16(from.cast())))));
        unsafe fn read_i8(self, from: *const i8) -> I32x4 = {
            let bytes = vcreate_s8(u64::from(from.cast::<u32>().read_unaligned()));
            I32x4(vmovl_s16(vget_low_s16(vmovl_s8(bytes))))
        };
        unsafe fn read_u8(self, from: *const u8) -> I32x4 = {
            let bytes = vcreate_u8(u64::from(from.cast::<u32>().read_unaligned()));
            I32x4(vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes)))))
        };
        unsafe fn write_i8(self, to: *mut i8, vector: I32x4) = {
            let words = vqmovn_s32(vector.0);
            let bytes = vqmovn_s16(vcombine_s16(words, words));
            to.cast::<u32>().write_unaligned(vget_lane_u32::<0>(vreinterpret_u32_s8(bytes)));
        };
        unsafe fn transpose(self, from: *const f32, from_step: usize, to: *mut f32, to_step: usize) = {
            let row = |row: usize| vld1q_f32(from.add(row * from_step));
            let [even, odd] = [vtrn1q_f32(row(0), row(1)), vtrn2q_f32(row(0), row(1))];
            let [next_even, next_odd] = [vtrn1q_f32(row(2), row(3)), vtrn2q_f32(row(2), row(3))];
            vst1q_f32(to, vcombine_f32(vget_low_f32(even), vget_low_f32(next_even)));
            vst1q_f32(to.add(to_step), vcombine_f32(vget_low_f32(odd), vget_low_f32(next_odd)));
            vst1q_f32(to.add(2 * to_step), vcombine_f32(vget_high_f32(even), vget_high_f32(next_even)));
            vst1q_f32(to.add(3 * to_step), vcombine_f32(vget_high_f32(odd), vget_high_f32(next_odd)));
        };
    }
}
