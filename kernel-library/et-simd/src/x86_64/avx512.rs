//! AVX-512 F, BW, DQ and VL: sixteen lanes.
#![allow(unsafe_code)] // Calls functions of `core::arch`, which exist only where the processor has the instructions.
#![allow(unused_unsafe)] // Where they are compiled for in any case, calling them is safe.
#![allow(clippy::cast_ptr_alignment)] // The instructions take any alignment.

use core::arch::x86_64::*;

use crate::operators::{intrinsics, operators};
use crate::{Float, Integer, Simd, Work};

/// AVX-512.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512(());

/// Sixteen `f32`.
#[derive(Clone, Copy, Debug)]
pub struct F32x16(__m512);

/// Sixteen `i32`.
#[derive(Clone, Copy, Debug)]
pub struct I32x16(pub(super) __m512i);

operators!(F32x16, Add add _mm512_add_ps, Sub sub _mm512_sub_ps, Mul mul _mm512_mul_ps, Div div _mm512_div_ps);
operators!(I32x16, Add add _mm512_add_epi32, Sub sub _mm512_sub_epi32, Mul mul _mm512_mullo_epi32);
operators!(I32x16, BitAnd bitand _mm512_and_si512, BitXor bitxor _mm512_xor_si512);

impl Float for F32x16 {
    type Integer = I32x16;
    type Mask = __mmask16;

    intrinsics! {
        fn min(self, other: Self) -> Self = Self(_mm512_min_ps(self.0, other.0));
        fn max(self, other: Self) -> Self = Self(_mm512_max_ps(self.0, other.0));
        fn sqrt(self) -> Self = Self(_mm512_sqrt_ps(self.0));
        fn abs(self) -> Self = Self(_mm512_abs_ps(self.0));
        fn times_power_of_two(self, exponent: Self) -> Self = Self(_mm512_scalef_ps(self.0, exponent.0));
        fn mul_add(self, factor: Self, addend: Self) -> Self = Self(_mm512_fmadd_ps(self.0, factor.0, addend.0));
        fn neg_mul_add(self, factor: Self, addend: Self) -> Self = Self(_mm512_fnmadd_ps(self.0, factor.0, addend.0));
        fn neg(self) -> Self = Self(_mm512_xor_ps(_mm512_set1_ps(-0.0), self.0));
        // The truth table selects bits of the first operand where the third has a 1, otherwise of the second.
        fn copy_sign(self, sign: Self) -> Self = {
            let [number, sign] = [_mm512_castps_si512(self.0), _mm512_castps_si512(sign.0)];
            let signs = _mm512_set1_epi32(i32::MIN);
            Self(_mm512_castsi512_ps(_mm512_ternarylogic_epi32::<0b1110_0100>(sign, number, signs)))
        };
        fn round(self) -> Self =
            Self(_mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(self.0));
        fn to_integer(self) -> I32x16 = I32x16(_mm512_cvtps_epi32(self.0));
        fn is_less(self, other: Self) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0);
        fn is_equal(self, other: Self) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(self.0, other.0);
        fn select(self, mask: __mmask16, other: Self) -> Self = Self(_mm512_mask_blend_ps(mask, other.0, self.0));
        fn sum(self) -> f32 = _mm512_reduce_add_ps(self.0);
        fn greatest(self) -> f32 = _mm512_reduce_max_ps(self.0);
        fn least(self) -> f32 = _mm512_reduce_min_ps(self.0);
    }
}

impl Integer for I32x16 {
    type Float = F32x16;

    intrinsics! {
        fn min(self, other: Self) -> Self = Self(_mm512_min_epi32(self.0, other.0));
        fn max(self, other: Self) -> Self = Self(_mm512_max_epi32(self.0, other.0));
        fn mul_words(self, words: Self) -> Self = Self(_mm512_madd_epi16(self.0, words.0));
        // `vpmaddwd` is faster than a 32-bit multiplication; the upper 16 bits are 0, so that the second product of a
        // pair vanishes.
        fn words(self) -> Self = Self(_mm512_and_si512(self.0, _mm512_set1_epi32(0xFFFF)));
        fn to_float(self) -> F32x16 = F32x16(_mm512_cvtepi32_ps(self.0));
        fn shift_right(self, bits: i32) -> Self = Self(_mm512_sra_epi32(self.0, _mm_cvtsi32_si128(bits)));
        fn shift_left(self, bits: i32) -> Self = Self(_mm512_sll_epi32(self.0, _mm_cvtsi32_si128(bits)));
        fn sum(self) -> i32 = _mm512_reduce_add_epi32(self.0);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,popcnt")]
fn vectorize<W: Work>(isa: Avx512, work: W) -> W::Output {
    work.run(isa)
}

/// The mask of the first `count` lanes.
#[inline(always)]
fn first(count: usize) -> __mmask16 {
    ((1_u32 << count.min(16)) - 1) as __mmask16
}

impl Simd for Avx512 {
    const NAME: &'static str = "avx512";
    const LANES: usize = 16;
    const REGISTERS: usize = 32;
    type F32 = F32x16;
    type I32 = I32x16;
    type Mask = __mmask16;

    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the token proves that the CPU has the ISA.
        unsafe { vectorize(self, work) }
    }
    intrinsics! {
        fn splat(self, number: f32) -> F32x16 = F32x16(_mm512_set1_ps(number));
        fn splat_i32(self, number: i32) -> I32x16 = I32x16(_mm512_set1_epi32(number));
    }
    intrinsics! {
        unsafe fn assume() -> Self = Self(());
        unsafe fn read(self, from: *const f32) -> F32x16 = F32x16(_mm512_loadu_ps(from));
        unsafe fn read_part(self, from: *const f32, count: usize) -> F32x16 =
            F32x16(_mm512_maskz_loadu_ps(first(count), from));
        unsafe fn write(self, to: *mut f32, vector: F32x16) = _mm512_storeu_ps(to, vector.0);
        unsafe fn write_part(self, to: *mut f32, count: usize, vector: F32x16) =
            _mm512_mask_storeu_ps(to, first(count), vector.0);
        unsafe fn read_i32(self, from: *const i32) -> I32x16 = I32x16(_mm512_loadu_epi32(from));
        unsafe fn write_i32(self, to: *mut i32, vector: I32x16) = _mm512_storeu_epi32(to, vector.0);
        unsafe fn read_halves(self, from: *const u16) -> F32x16 =
            F32x16(_mm512_cvtph_ps(_mm256_loadu_si256(from.cast())));
        unsafe fn read_bfloats(self, from: *const u16) -> F32x16 = {
            let words = _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast()));
            F32x16(_mm512_castsi512_ps(_mm512_slli_epi32::<16>(words)))
        };
        unsafe fn read_i8(self, from: *const i8) -> I32x16 = I32x16(_mm512_cvtepi8_epi32(_mm_loadu_si128(from.cast())));
        unsafe fn read_u8(self, from: *const u8) -> I32x16 = I32x16(_mm512_cvtepu8_epi32(_mm_loadu_si128(from.cast())));
        unsafe fn write_i8(self, to: *mut i8, vector: I32x16) =
            _mm_storeu_si128(to.cast(), _mm512_cvtsepi32_epi8(vector.0));
        unsafe fn read_i8_part(self, from: *const i8, count: usize) -> I32x16 =
            I32x16(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(first(count), from)));
        unsafe fn write_i8_part(self, to: *mut i8, count: usize, vector: I32x16) =
            _mm_mask_storeu_epi8(to, first(count), _mm512_cvtsepi32_epi8(vector.0));
        unsafe fn transpose(self, from: *const f32, from_step: usize, to: *mut f32, to_step: usize) =
            super::transpose::sixteen(from, from_step, to, to_step);
        /// Underflow converts to `i32::MIN` and saturates to the int8 lower bound; the upper bound excludes overflow.
        unsafe fn quantize_four(self, values: [F32x16; 4], zero_point: i32, [least, most]: [f32; 2], to: *mut i8) = {
            let [first, second, third, fourth] = values.map(
                #[inline(always)]
                |value| self.splat(most).min(value).to_integer().0,
            );
            let zero = _mm512_set1_epi16(zero_point as i16);
            let low = _mm512_adds_epi16(_mm512_packs_epi32(first, second), zero);
            let high = _mm512_adds_epi16(_mm512_packs_epi32(third, fourth), zero);
            // The pack instructions interleave groups of four elements of each vector.
            let order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
            let bytes = _mm512_permutexvar_epi32(order, _mm512_packs_epi16(low, high));
            let least = _mm512_set1_epi8((least as i32 + zero_point) as i8);
            _mm512_storeu_si512(to.cast(), _mm512_max_epi8(bytes, least));
        };
    }
}
