//! Advanced SIMD (Neon), part of every AArch64 application CPU: four lanes.
#![allow(unsafe_code)] // Calls functions of `core::arch`, some of which read and write through pointers.
#![allow(unused_unsafe)] // Where they are compiled for in any case, calling them is safe.

use core::arch::aarch64::*;

mod dot;

pub use dot::NeonDot;

use crate::operators::{methods, operators};
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

impl Neon {
    /// The ISA token; every AArch64 CPU has Advanced SIMD.
    pub fn detect() -> Option<Self> {
        Some(Self(()))
    }
}

operators!(F32x4, Add add vaddq_f32, Sub sub vsubq_f32, Mul mul vmulq_f32, Div div vdivq_f32);
operators!(I32x4, Add add vaddq_s32, Sub sub vsubq_s32, Mul mul vmulq_s32);
operators!(I32x4, BitAnd bitand vandq_s32, BitXor bitxor veorq_s32);

impl Float for F32x4 {
    type Integer = I32x4;
    type Mask = Mask4;

    methods!(
        min(other) = vminq_f32,
        max(other) = vmaxq_f32,
        sqrt() = vsqrtq_f32,
        abs() = vabsq_f32,
        neg() = vnegq_f32,
        round() = vrndnq_f32,
    );

    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        // SAFETY: every AArch64 CPU has Advanced SIMD. The same argument holds for the methods below.
        Self(unsafe { vfmaq_f32(addend.0, self.0, factor.0) })
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { vfmsq_f32(addend.0, self.0, factor.0) })
    }
    #[inline(always)]
    fn copy_sign(self, sign: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { vbslq_f32(vdupq_n_u32(1 << 31), sign.0, self.0) })
    }
    #[inline(always)]
    fn to_integer(self) -> I32x4 {
        // SAFETY: as above.
        I32x4(unsafe { vcvtnq_s32_f32(self.0) })
    }
    #[inline(always)]
    fn times_power_of_two(self, exponent: Self) -> Self {
        // SAFETY: as above. The smallest normal `f32` exponent is -126, so that the scaling is split into two factors.
        unsafe {
            let exponent = vcvtnq_s32_f32(exponent.0);
            let half = vshrq_n_s32::<1>(exponent);
            self * power_of_two(half) * power_of_two(vsubq_s32(exponent, half))
        }
    }
    #[inline(always)]
    fn is_less(self, other: Self) -> Mask4 {
        // SAFETY: as above.
        Mask4(unsafe { vcltq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn is_equal(self, other: Self) -> Mask4 {
        // SAFETY: as above.
        Mask4(unsafe { vceqq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn select(self, mask: Mask4, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { vbslq_f32(mask.0, self.0, other.0) })
    }
    #[inline(always)]
    fn sum(self) -> f32 {
        // SAFETY: as above.
        unsafe { vaddvq_f32(self.0) }
    }
    #[inline(always)]
    fn greatest(self) -> f32 {
        // SAFETY: as above.
        unsafe { vmaxvq_f32(self.0) }
    }
    #[inline(always)]
    fn least(self) -> f32 {
        // SAFETY: as above.
        unsafe { vminvq_f32(self.0) }
    }
}

/// Two to the power of `exponent`, from -126 to 127.
#[inline(always)]
fn power_of_two(exponent: int32x4_t) -> F32x4 {
    // SAFETY: every AArch64 CPU has Advanced SIMD.
    F32x4(unsafe { vreinterpretq_f32_s32(vshlq_n_s32::<23>(vaddq_s32(exponent, vdupq_n_s32(127)))) })
}

impl Integer for I32x4 {
    type Float = F32x4;

    methods!(min(other) = vminq_s32, max(other) = vmaxq_s32, mul_words(words) = vmulq_s32);

    #[inline(always)]
    fn words(self) -> Self {
        self
    }

    #[inline(always)]
    fn to_float(self) -> F32x4 {
        // SAFETY: as above.
        F32x4(unsafe { vcvtq_f32_s32(self.0) })
    }
    #[inline(always)]
    fn shift_right(self, bits: i32) -> Self {
        // SAFETY: as above.
        Self(unsafe { vshlq_s32(self.0, vdupq_n_s32(-bits)) })
    }
    #[inline(always)]
    fn sum(self) -> i32 {
        // SAFETY: as above.
        unsafe { vaddvq_s32(self.0) }
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
    unsafe fn assume() -> Self {
        Self(())
    }
    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        work.run(self)
    }
    #[inline(always)]
    fn splat(self, number: f32) -> F32x4 {
        // SAFETY: as above.
        F32x4(unsafe { vdupq_n_f32(number) })
    }
    #[inline(always)]
    fn splat_i32(self, number: i32) -> I32x4 {
        // SAFETY: as above.
        I32x4(unsafe { vdupq_n_s32(number) })
    }
    #[inline(always)]
    unsafe fn read(self, from: *const f32) -> F32x4 {
        // SAFETY: as above; the caller guarantees valid pointers. The same argument holds for the methods below.
        F32x4(unsafe { vld1q_f32(from) })
    }
    #[inline(always)]
    unsafe fn read_part(self, from: *const f32, count: usize) -> F32x4 {
        if count >= 4 {
            // SAFETY: as above.
            return unsafe { self.read(from) };
        }
        let mut lanes = [0.0; 4];
        for (lane, number) in lanes.iter_mut().enumerate().take(count) {
            // SAFETY: as above.
            *number = unsafe { *from.add(lane) };
        }
        // SAFETY: as above.
        F32x4(unsafe { vld1q_f32(lanes.as_ptr()) })
    }
    #[inline(always)]
    unsafe fn write(self, to: *mut f32, vector: F32x4) {
        // SAFETY: as above.
        unsafe { vst1q_f32(to, vector.0) }
    }
    #[inline(always)]
    unsafe fn write_part(self, to: *mut f32, count: usize, vector: F32x4) {
        if count >= 4 {
            // SAFETY: as above.
            return unsafe { self.write(to, vector) };
        }
        let mut lanes = [0.0; 4];
        // SAFETY: as above.
        unsafe { vst1q_f32(lanes.as_mut_ptr(), vector.0) };
        for (lane, number) in lanes.iter().enumerate().take(count) {
            // SAFETY: as above.
            unsafe { *to.add(lane) = *number };
        }
    }
    #[inline(always)]
    unsafe fn read_i32(self, from: *const i32) -> I32x4 {
        // SAFETY: as above.
        I32x4(unsafe { vld1q_s32(from) })
    }
    #[inline(always)]
    unsafe fn write_i32(self, to: *mut i32, vector: I32x4) {
        // SAFETY: as above.
        unsafe { vst1q_s32(to, vector.0) }
    }
    #[inline(always)]
    unsafe fn read_halves(self, from: *const u16) -> F32x4 {
        // SAFETY: as above. Inline assembly, because the intrinsic for fp16 conversion is not stable.
        unsafe {
            let bits = vshlq_n_s32::<13>(vmovl_s16(vld1_s16(from.cast())));
            let number = vreinterpretq_f32_s32(vandq_s32(bits, vdupq_n_s32(half::PLACES)));
            F32x4(vmulq_n_f32(number, half::EXPONENT))
        }
    }
    #[inline(always)]
    unsafe fn read_i8(self, from: *const i8) -> I32x4 {
        // SAFETY: as above.
        unsafe {
            let bytes = vcreate_s8(u64::from(from.cast::<u32>().read_unaligned()));
            I32x4(vmovl_s16(vget_low_s16(vmovl_s8(bytes))))
        }
    }
    #[inline(always)]
    unsafe fn read_u8(self, from: *const u8) -> I32x4 {
        // SAFETY: as above.
        unsafe {
            let bytes = vcreate_u8(u64::from(from.cast::<u32>().read_unaligned()));
            I32x4(vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes)))))
        }
    }
    #[inline(always)]
    unsafe fn write_i8(self, to: *mut i8, vector: I32x4) {
        // SAFETY: as above.
        unsafe {
            let words = vqmovn_s32(vector.0);
            let bytes = vqmovn_s16(vcombine_s16(words, words));
            to.cast::<u32>().write_unaligned(vget_lane_u32::<0>(vreinterpret_u32_s8(bytes)));
        }
    }
    #[inline(always)]
    unsafe fn transpose(self, from: *const f32, from_step: usize, to: *mut f32, to_step: usize) {
        // SAFETY: as above.
        unsafe {
            let row = |row: usize| vld1q_f32(from.add(row * from_step));
            let [even, odd] = [vtrn1q_f32(row(0), row(1)), vtrn2q_f32(row(0), row(1))];
            let [next_even, next_odd] = [vtrn1q_f32(row(2), row(3)), vtrn2q_f32(row(2), row(3))];
            vst1q_f32(to, vcombine_f32(vget_low_f32(even), vget_low_f32(next_even)));
            vst1q_f32(to.add(to_step), vcombine_f32(vget_low_f32(odd), vget_low_f32(next_odd)));
            vst1q_f32(to.add(2 * to_step), vcombine_f32(vget_high_f32(even), vget_high_f32(next_even)));
            vst1q_f32(to.add(3 * to_step), vcombine_f32(vget_high_f32(odd), vget_high_f32(next_odd)));
        }
    }
}
