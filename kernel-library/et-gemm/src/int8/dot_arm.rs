//! int8 dot products on AArch64.
#![allow(unsafe_code, reason = "instructions exist only on processors that have them, and memory is read by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each method is one expression under the contract of the trait")]

use core::arch::aarch64::*;
use core::arch::asm;

use et_simd::{I32x4, Integer};

use super::dot::{Dots, Real};

/// Four int32 accumulators with Advanced SIMD: per lane, int8 products are widened and added in pairs.
#[derive(Clone, Copy)]
pub struct Neon(int32x4_t);

impl Dots for Neon {
    /// Bytes 0 and 1 of each lane, then bytes 2 and 3.
    type Weights = [int8x8_t; 2];
    type Activation = [int8x8_t; 2];
    type Isa = et_simd::Neon;
    const LANES: usize = 4;
    #[inline(always)]
    unsafe fn unpack_int4(from: *const u8) -> [Self::Weights; 2] {
        let bytes = vld1q_u8(from);
        let mut halves = [[0u8; 16]; 2];
        vst1q_u8(halves[0].as_mut_ptr(), vandq_u8(bytes, vdupq_n_u8(15)));
        vst1q_u8(halves[1].as_mut_ptr(), vshrq_n_u8::<4>(bytes));
        [Self::weights(halves[0].as_ptr()), Self::weights(halves[1].as_ptr())]
    }
    #[inline(always)]
    unsafe fn splat(value: i32) -> Self {
        Self(vdupq_n_s32(value))
    }
    #[inline(always)]
    unsafe fn real(self) -> Real<Self> {
        I32x4::new(self.0).to_float()
    }
    #[inline(always)]
    unsafe fn zero() -> Self {
        Self(vdupq_n_s32(0))
    }
    #[inline(always)]
    unsafe fn weights(from: *const u8) -> Self::Weights {
        let pairs = vreinterpretq_s16_u8(vld1q_u8(from));
        let low = vuzp1q_s16(pairs, pairs);
        let high = vuzp2q_s16(pairs, pairs);
        [vreinterpret_s8_s16(vget_low_s16(low)), vreinterpret_s8_s16(vget_low_s16(high))]
    }
    #[inline(always)]
    unsafe fn spread(word: i32) -> Self::Activation {
        [vreinterpret_s8_s16(vdup_n_s16(word as i16)), vreinterpret_s8_s16(vdup_n_s16((word >> 16) as i16))]
    }
    #[inline(always)]
    unsafe fn add(self, weights: Self::Weights, activation: Self::Activation) -> Self {
        let sum = vpadalq_s16(self.0, vmull_s8(weights[0], activation[0]));
        Self(vpadalq_s16(sum, vmull_s8(weights[1], activation[1])))
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        Self(vaddq_s32(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut i32) {
        vst1q_s32(to, self.0);
    }
}

/// Four int32 accumulators with `sdot` (dotprod), and with `smmla` for pairs of rows if `PAIRS` (i8mm).
#[derive(Clone, Copy)]
pub struct NeonDot<const PAIRS: bool>(int32x4_t);

impl<const PAIRS: bool> Dots for NeonDot<PAIRS> {
    type Weights = int8x16_t;
    type Activation = int8x16_t;
    type Isa = et_simd::Neon;
    const LANES: usize = 4;
    #[inline(always)]
    unsafe fn unpack_int4(from: *const u8) -> [Self::Weights; 2] {
        let bytes = vld1q_u8(from);
        let low = vandq_u8(bytes, vdupq_n_u8(15));
        [vreinterpretq_s8_u8(low), vreinterpretq_s8_u8(vshrq_n_u8::<4>(bytes))]
    }
    #[inline(always)]
    unsafe fn splat(value: i32) -> Self {
        Self(vdupq_n_s32(value))
    }
    #[inline(always)]
    unsafe fn real(self) -> Real<Self> {
        I32x4::new(self.0).to_float()
    }
    #[inline(always)]
    unsafe fn zero() -> Self {
        Self(vdupq_n_s32(0))
    }
    #[inline(always)]
    unsafe fn weights(from: *const u8) -> int8x16_t {
        vreinterpretq_s8_u8(vld1q_u8(from))
    }
    #[inline(always)]
    unsafe fn spread(word: i32) -> int8x16_t {
        vreinterpretq_s8_s32(vdupq_n_s32(word))
    }
    #[inline(always)]
    unsafe fn add(self, weights: int8x16_t, activation: int8x16_t) -> Self {
        let mut sum = self.0;
        // The intrinsic is not stable.
        asm!(
            ".arch_extension dotprod",
            "sdot {sum:v}.4s, {weights:v}.16b, {activation:v}.16b",
            sum = inout(vreg) sum, weights = in(vreg) weights, activation = in(vreg) activation,
            options(pure, nomem, nostack, preserves_flags)
        );
        Self(sum)
    }
    const PAIRS: bool = PAIRS;
    #[inline(always)]
    unsafe fn interleave([first, second]: [int8x16_t; 2]) -> [int8x16_t; 2] {
        let [first, second] = [vreinterpretq_s32_s8(first), vreinterpretq_s32_s8(second)];
        [vreinterpretq_s8_s32(vzip1q_s32(first, second)), vreinterpretq_s8_s32(vzip2q_s32(first, second))]
    }
    #[inline(always)]
    unsafe fn pair([first, second]: [i64; 2]) -> int8x16_t {
        vcombine_s8(vcreate_s8(first as u64), vcreate_s8(second as u64))
    }
    #[inline(always)]
    unsafe fn add_pair(self, weights: int8x16_t, rows: int8x16_t) -> Self {
        let mut sum = self.0;
        // The intrinsic is not stable.
        asm!(
            ".arch_extension i8mm",
            "smmla {sum:v}.4s, {rows:v}.16b, {weights:v}.16b",
            sum = inout(vreg) sum, rows = in(vreg) rows, weights = in(vreg) weights,
            options(pure, nomem, nostack, preserves_flags)
        );
        Self(sum)
    }
    #[inline(always)]
    unsafe fn unpair([first, last]: [Self; 2]) -> [Self; 2] {
        [
            Self(vcombine_s32(vget_low_s32(first.0), vget_low_s32(last.0))),
            Self(vcombine_s32(vget_high_s32(first.0), vget_high_s32(last.0))),
        ]
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        Self(vaddq_s32(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut i32) {
        vst1q_s32(to, self.0);
    }
}
