//! AVX2 with FMA: eight lanes.
#![allow(unsafe_code)] // Calls functions of `core::arch`, which exist only where the processor has the instructions.
#![allow(unused_unsafe)] // Where they are compiled for in any case, calling them is safe.
#![allow(clippy::cast_ptr_alignment)] // The instructions take any alignment.

use core::arch::x86_64::*;

use crate::operators::{intrinsics, operators};
use crate::{Float, Integer, Simd, Work};

/// AVX2 and FMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx2(());

/// Eight `f32`.
#[derive(Clone, Copy, Debug)]
pub struct F32x8(__m256);

/// Eight `i32`.
#[derive(Clone, Copy, Debug)]
pub struct I32x8(pub(super) __m256i);

/// A mask of eight lanes, each with every bit set or every bit clear.
#[derive(Clone, Copy, Debug)]
pub struct Mask8(__m256);

operators!(F32x8, Add add _mm256_add_ps, Sub sub _mm256_sub_ps, Mul mul _mm256_mul_ps, Div div _mm256_div_ps);
operators!(I32x8, Add add _mm256_add_epi32, Sub sub _mm256_sub_epi32, Mul mul _mm256_mullo_epi32);
operators!(I32x8, BitAnd bitand _mm256_and_si256, BitXor bitxor _mm256_xor_si256);

impl Float for F32x8 {
    type Integer = I32x8;
    type Mask = Mask8;

    intrinsics! {
        fn min(self, other: Self) -> Self = Self(_mm256_min_ps(self.0, other.0));
        fn max(self, other: Self) -> Self = Self(_mm256_max_ps(self.0, other.0));
        fn sqrt(self) -> Self = Self(_mm256_sqrt_ps(self.0));
        fn mul_add(self, factor: Self, addend: Self) -> Self = Self(_mm256_fmadd_ps(self.0, factor.0, addend.0));
        fn neg_mul_add(self, factor: Self, addend: Self) -> Self = Self(_mm256_fnmadd_ps(self.0, factor.0, addend.0));
        fn abs(self) -> Self = Self(_mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0));
        fn neg(self) -> Self = Self(_mm256_xor_ps(_mm256_set1_ps(-0.0), self.0));
        fn copy_sign(self, sign: Self) -> Self =
            Self(_mm256_or_ps(self.abs().0, _mm256_and_ps(_mm256_set1_ps(-0.0), sign.0)));
        fn round(self) -> Self = Self(_mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(self.0));
        fn to_integer(self) -> I32x8 = I32x8(_mm256_cvtps_epi32(self.0));
        // The smallest normal `f32` exponent is -126, so that the scaling is split into two factors.
        fn times_power_of_two(self, exponent: Self) -> Self = {
            let exponent = _mm256_cvtps_epi32(exponent.0);
            let half = _mm256_srai_epi32::<1>(exponent);
            self * power_of_two(half) * power_of_two(_mm256_sub_epi32(exponent, half))
        };
        fn is_less(self, other: Self) -> Mask8 = Mask8(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0));
        fn is_equal(self, other: Self) -> Mask8 = Mask8(_mm256_cmp_ps::<_CMP_EQ_OQ>(self.0, other.0));
        fn select(self, mask: Mask8, other: Self) -> Self = Self(_mm256_blendv_ps(other.0, self.0, mask.0));
        fn sum(self) -> f32 = {
            let four = _mm_add_ps(_mm256_castps256_ps128(self.0), _mm256_extractf128_ps::<1>(self.0));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
        };
        fn greatest(self) -> f32 = {
            let four = _mm_max_ps(_mm256_castps256_ps128(self.0), _mm256_extractf128_ps::<1>(self.0));
            let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
        };
        fn least(self) -> f32 = -self.neg().greatest();
    }
}

intrinsics! {
    /// Two to the power of `exponent`, from -126 to 127.
    fn power_of_two(exponent: __m256i) -> F32x8 =
        F32x8(_mm256_castsi256_ps(_mm256_slli_epi32::<23>(_mm256_add_epi32(exponent, _mm256_set1_epi32(127)))));
}

impl Integer for I32x8 {
    type Float = F32x8;

    intrinsics! {
        fn min(self, other: Self) -> Self = Self(_mm256_min_epi32(self.0, other.0));
        fn max(self, other: Self) -> Self = Self(_mm256_max_epi32(self.0, other.0));
        fn mul_words(self, words: Self) -> Self = Self(_mm256_madd_epi16(self.0, words.0));
        // `vpmaddwd` is faster than a 32-bit multiplication; the upper 16 bits are 0, so that the second product of a
        // pair vanishes.
        fn words(self) -> Self = Self(_mm256_and_si256(self.0, _mm256_set1_epi32(0xFFFF)));
        fn to_float(self) -> F32x8 = F32x8(_mm256_cvtepi32_ps(self.0));
        fn shift_right(self, bits: i32) -> Self = Self(_mm256_sra_epi32(self.0, _mm_cvtsi32_si128(bits)));
        fn shift_left(self, bits: i32) -> Self = Self(_mm256_sll_epi32(self.0, _mm_cvtsi32_si128(bits)));
        fn sum(self) -> i32 = {
            let four = _mm_add_epi32(_mm256_castsi256_si128(self.0), _mm256_extracti128_si256::<1>(self.0));
            let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b1110>(four));
            _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<1>(two)))
        };
    }
}

#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,popcnt")]
fn vectorize<W: Work>(isa: Avx2, work: W) -> W::Output {
    work.run(isa)
}

/// The mask of the first `count` lanes.
#[inline(always)]
fn first(count: usize) -> __m256i {
    const ONES_AND_ZEROS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
    // SAFETY: reads eight of the sixteen elements, at most from the eighth on; every caller holds an ISA token.
    unsafe { _mm256_loadu_si256(ONES_AND_ZEROS.as_ptr().add(8 - count.min(8)).cast()) }
}

impl Simd for Avx2 {
    const NAME: &'static str = "avx2";
    const LANES: usize = 8;
    const REGISTERS: usize = 16;
    type F32 = F32x8;
    type I32 = I32x8;
    type Mask = Mask8;

    #[inline(always)]
    fn vectorize<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the token proves that the CPU has the ISA.
        unsafe { vectorize(self, work) }
    }
    intrinsics! {
        fn splat(self, number: f32) -> F32x8 = F32x8(_mm256_set1_ps(number));
        fn splat_i32(self, number: i32) -> I32x8 = I32x8(_mm256_set1_epi32(number));
    }
    intrinsics! {
        unsafe fn assume() -> Self = Self(());
        unsafe fn read(self, from: *const f32) -> F32x8 = F32x8(_mm256_loadu_ps(from));
        unsafe fn read_part(self, from: *const f32, count: usize) -> F32x8 =
            F32x8(_mm256_maskload_ps(from, first(count)));
        unsafe fn write(self, to: *mut f32, vector: F32x8) = _mm256_storeu_ps(to, vector.0);
        unsafe fn write_part(self, to: *mut f32, count: usize, vector: F32x8) =
            _mm256_maskstore_ps(to, first(count), vector.0);
        unsafe fn read_i32(self, from: *const i32) -> I32x8 = I32x8(_mm256_loadu_si256(from.cast()));
        unsafe fn write_i32(self, to: *mut i32, vector: I32x8) = _mm256_storeu_si256(to.cast(), vector.0);
        unsafe fn read_halves(self, from: *const u16) -> F32x8 = F32x8(_mm256_cvtph_ps(_mm_loadu_si128(from.cast())));
        unsafe fn read_bfloats(self, from: *const u16) -> F32x8 = {
            let words = _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast()));
            F32x8(_mm256_castsi256_ps(_mm256_slli_epi32::<16>(words)))
        };
        unsafe fn read_i8(self, from: *const i8) -> I32x8 = I32x8(_mm256_cvtepi8_epi32(_mm_loadl_epi64(from.cast())));
        unsafe fn read_u8(self, from: *const u8) -> I32x8 = I32x8(_mm256_cvtepu8_epi32(_mm_loadl_epi64(from.cast())));
        unsafe fn write_i8(self, to: *mut i8, vector: I32x8) = {
            let high = _mm256_extracti128_si256::<1>(vector.0);
            let words = _mm_packs_epi32(_mm256_castsi256_si128(vector.0), high);
            _mm_storel_epi64(to.cast(), _mm_packs_epi16(words, words));
        };
        unsafe fn transpose(self, from: *const f32, from_step: usize, to: *mut f32, to_step: usize) =
            super::transpose::eight(from, from_step, to, to_step);
    }
}
