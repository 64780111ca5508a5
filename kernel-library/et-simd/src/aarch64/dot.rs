//! int8 dot products on AArch64.
#![allow(unsafe_op_in_unsafe_fn)] // Each method is one expression under the contract of the trait.

use core::arch::aarch64::*;
use core::arch::asm;

use super::{I32x4, Neon};
use crate::operators::intrinsics;
use crate::{Dot, GemmDot};

/// `sdot` (dotprod), and `smmla` for pairs of rows if `PAIRS` (i8mm).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeonDot<const PAIRS: bool>(Neon);

/// An instruction of an extension that adds the products of int8 vectors to accumulators. Its intrinsic is not stable.
macro_rules! multiply_add {
    ($extension:literal, $instruction:literal, $sum:expr, $first:expr, $second:expr) => {{
        let mut sum = $sum.0;
        asm!(
            concat!(".arch_extension ", $extension),
            concat!($instruction, " {sum:v}.4s, {first:v}.16b, {second:v}.16b"),
            sum = inout(vreg) sum, first = in(vreg) $first, second = in(vreg) $second,
            options(pure, nomem, nostack, preserves_flags)
        );
        I32x4(sum)
    }};
}

/// The low and the high 4 bits of each byte. The shift of bytes needs no mask, unlike the shift of lanes.
#[inline(always)]
unsafe fn low_and_high(from: *const u8) -> [I32x4; 2] {
    let bytes = vld1q_u8(from);
    let [low, high] = [vandq_u8(bytes, vdupq_n_u8(15)), vshrq_n_u8::<4>(bytes)];
    [I32x4(vreinterpretq_s32_u8(low)), I32x4(vreinterpretq_s32_u8(high))]
}

impl Dot for Neon {
    type Isa = Self;
    #[inline(always)]
    fn isa(self) -> Self {
        self
    }
}

impl<const PAIRS: bool> Dot for NeonDot<PAIRS> {
    type Isa = Neon;
    #[inline(always)]
    fn isa(self) -> Neon {
        self.0
    }
}

/// Bytes 0 and 1 of each lane, then bytes 2 and 3: products are widened and added in pairs.
impl GemmDot for Neon {
    type Weights = [int8x8_t; 2];
    type Activation = [int8x8_t; 2];
    intrinsics! {
        unsafe fn weights(bytes: I32x4) -> Self::Weights = {
            let pairs = vreinterpretq_s16_s32(bytes.0);
            let [low, high] = [vuzp1q_s16(pairs, pairs), vuzp2q_s16(pairs, pairs)];
            [vreinterpret_s8_s16(vget_low_s16(low)), vreinterpret_s8_s16(vget_low_s16(high))]
        };
        unsafe fn activation(bytes: I32x4) -> Self::Activation = Self::weights(bytes);
        unsafe fn unpack_int4(from: *const u8) -> [Self::Weights; 2] = {
            let [low, high] = low_and_high(from);
            [Self::weights(low), Self::weights(high)]
        };
        unsafe fn spread(word: i32) -> Self::Activation =
            [vreinterpret_s8_s16(vdup_n_s16(word as i16)), vreinterpret_s8_s16(vdup_n_s16((word >> 16) as i16))];
        unsafe fn add(sum: I32x4, weights: Self::Weights, activation: Self::Activation) -> I32x4 = {
            let sum = vpadalq_s16(sum.0, vmull_s8(weights[0], activation[0]));
            I32x4(vpadalq_s16(sum, vmull_s8(weights[1], activation[1])))
        };
    }
}

impl<const PAIRS: bool> GemmDot for NeonDot<PAIRS> {
    type Weights = int8x16_t;
    type Activation = int8x16_t;
    const PAIRS: bool = PAIRS;
    intrinsics! {
        unsafe fn weights(bytes: I32x4) -> int8x16_t = vreinterpretq_s8_s32(bytes.0);
        unsafe fn activation(bytes: I32x4) -> int8x16_t = Self::weights(bytes);
        unsafe fn add(sum: I32x4, weights: int8x16_t, activation: int8x16_t) -> I32x4 =
            multiply_add!("dotprod", "sdot", sum, weights, activation);
        unsafe fn unpack_int4(from: *const u8) -> [Self::Weights; 2] = {
            let [low, high] = low_and_high(from);
            [Self::weights(low), Self::weights(high)]
        };
        unsafe fn interleave([first, second]: [int8x16_t; 2]) -> [int8x16_t; 2] = {
            let [first, second] = [vreinterpretq_s32_s8(first), vreinterpretq_s32_s8(second)];
            [vreinterpretq_s8_s32(vzip1q_s32(first, second)), vreinterpretq_s8_s32(vzip2q_s32(first, second))]
        };
        unsafe fn pair([first, second]: [i64; 2]) -> int8x16_t =
            vcombine_s8(vcreate_s8(first as u64), vcreate_s8(second as u64));
        unsafe fn add_pair(sum: I32x4, weights: int8x16_t, rows: int8x16_t) -> I32x4 =
            multiply_add!("i8mm", "smmla", sum, rows, weights);
        unsafe fn unpair([first, last]: [I32x4; 2]) -> [I32x4; 2] = [
            I32x4(vcombine_s32(vget_low_s32(first.0), vget_low_s32(last.0))),
            I32x4(vcombine_s32(vget_high_s32(first.0), vget_high_s32(last.0))),
        ];
    }
}
