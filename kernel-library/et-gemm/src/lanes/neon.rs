//! Advanced SIMD: four lanes.
#![allow(unsafe_op_in_unsafe_fn, reason = "each method is one expression under the contract of the trait")]

use core::arch::aarch64::*;
use core::ptr::copy_nonoverlapping;

use super::{HALF_EXPONENTS, Lanes};

/// Four `f32`.
#[derive(Clone, Copy)]
pub struct Neon(float32x4_t);

impl Neon {
    /// Converts `i32` lanes to `f32`.
    ///
    /// # Safety
    ///
    /// The CPU has Advanced SIMD.
    #[inline(always)]
    pub unsafe fn from_words(words: int32x4_t) -> Self {
        Self(vcvtq_f32_s32(words))
    }
}

impl Lanes for Neon {
    type Words = int32x4_t;
    const COUNT: usize = 4;
    #[inline(always)]
    unsafe fn words(from: *const i32) -> int32x4_t {
        vld1q_s32(from)
    }
    #[inline(always)]
    unsafe fn field(words: int32x4_t, shift: i32, mask: i32, flipped: i32) -> Self {
        let bits = vandq_s32(vshlq_s32(words, vdupq_n_s32(-shift)), vdupq_n_s32(mask));
        Self(vcvtq_f32_s32(veorq_s32(bits, vdupq_n_s32(flipped))))
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Self(vdupq_n_f32(value))
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        Self(vld1q_f32(from))
    }
    #[inline(always)]
    unsafe fn load_halves(from: *const u16) -> Self {
        let words = vshlq_n_u32::<13>(vmovl_u16(vld1_u16(from)));
        Self(vmulq_n_f32(vreinterpretq_f32_u32(words), HALF_EXPONENTS))
    }
    #[inline(always)]
    unsafe fn load_unsigned(from: *const u8) -> Self {
        let bytes = vcreate_u8(u64::from(from.cast::<u32>().read_unaligned()));
        Self(vcvtq_f32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes)))))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        vst1q_f32(to, self.0);
    }
    #[inline(always)]
    unsafe fn load_part(from: *const f32, count: usize) -> Self {
        if count >= 4 {
            return Self::load(from);
        }
        let mut all = [0.0; 4];
        copy_nonoverlapping(from, all.as_mut_ptr(), count);
        Self::load(all.as_ptr())
    }
    #[inline(always)]
    unsafe fn store_part(self, to: *mut f32, count: usize) {
        if count >= 4 {
            return self.store(to);
        }
        let mut all = [0.0; 4];
        self.store(all.as_mut_ptr());
        copy_nonoverlapping(all.as_ptr(), to, count);
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Self(vaddq_f32(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn subtract(self, other: Self) -> Self {
        Self(vsubq_f32(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn multiply(self, other: Self) -> Self {
        Self(vmulq_f32(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn divide(self, other: Self) -> Self {
        Self(vdivq_f32(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn multiply_add(self, factor: Self, addend: Self) -> Self {
        Self(vfmaq_f32(addend.0, self.0, factor.0))
    }
    #[inline(always)]
    unsafe fn at_most(self, bound: f32) -> Self {
        Self(vminq_f32(self.0, vdupq_n_f32(bound)))
    }
    #[inline(always)]
    unsafe fn at_least(self, bound: f32) -> Self {
        Self(vmaxq_f32(self.0, vdupq_n_f32(bound)))
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        Self(vrndnq_f32(self.0))
    }
    #[inline(always)]
    unsafe fn power_of_two(self) -> Self {
        let exponent = vaddq_s32(vcvtnq_s32_f32(self.0), vdupq_n_s32(127));
        Self(vreinterpretq_f32_s32(vshlq_n_s32::<23>(exponent)))
    }
    #[inline(always)]
    unsafe fn from_sums(sums: *const i32, factors: Self::Words, factor: i32, addend: i32) -> Self {
        let sums = vaddq_s32(vld1q_s32(sums), vdupq_n_s32(addend));
        Self(vcvtq_f32_s32(vmlaq_s32(sums, factors, vdupq_n_s32(factor))))
    }
    #[inline(always)]
    unsafe fn load_bytes(from: *const i8, count: usize) -> Self {
        let mut all = [0i8; 8];
        copy_nonoverlapping(from, all.as_mut_ptr(), count.min(4));
        Self(vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vld1_s8(all.as_ptr()))))))
    }
    #[inline(always)]
    unsafe fn store_bytes(self, zero_point: i32, to: *mut i8, count: usize) {
        let halves = vmovn_s32(vaddq_s32(vcvtnq_s32_f32(self.0), vdupq_n_s32(zero_point)));
        let mut all = [0i8; 8];
        vst1_s8(all.as_mut_ptr(), vmovn_s16(vcombine_s16(halves, halves)));
        copy_nonoverlapping(all.as_ptr(), to, count.min(4));
    }
}
