//! AVX2 with FMA: eight lanes.
#![allow(unsafe_op_in_unsafe_fn, reason = "each method is one expression under the contract of the trait")]

use core::arch::x86_64::*;

use super::{HALF_EXPONENTS, Lanes};

/// Eight `f32`.
#[derive(Clone, Copy)]
pub struct Avx2(__m256);

/// The mask of the first `count` lanes, every lane from eight on.
#[inline(always)]
unsafe fn first(count: usize) -> __m256i {
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    _mm256_cmpgt_epi32(_mm256_set1_epi32(count.min(8) as i32), lanes)
}

impl Avx2 {
    /// Converts `i32` lanes to `f32`.
    ///
    /// # Safety
    ///
    /// The CPU has AVX2.
    #[inline(always)]
    pub unsafe fn from_words(words: __m256i) -> Self {
        Self(_mm256_cvtepi32_ps(words))
    }
}

impl Lanes for Avx2 {
    type Words = __m256i;
    const COUNT: usize = 8;
    #[inline(always)]
    unsafe fn prefetch(from: *const u8) {
        _mm_prefetch::<_MM_HINT_T1>(from.cast());
    }
    #[inline(always)]
    unsafe fn words(from: *const i32) -> __m256i {
        _mm256_loadu_si256(from.cast())
    }
    #[inline(always)]
    unsafe fn field(words: __m256i, shift: i32, mask: i32, flipped: i32) -> Self {
        let bits = _mm256_and_si256(_mm256_srl_epi32(words, _mm_cvtsi32_si128(shift)), _mm256_set1_epi32(mask));
        Self(_mm256_cvtepi32_ps(_mm256_xor_si256(bits, _mm256_set1_epi32(flipped))))
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Self(_mm256_set1_ps(value))
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        Self(_mm256_loadu_ps(from))
    }
    #[inline(always)]
    unsafe fn load_halves(from: *const u16) -> Self {
        let words = _mm256_slli_epi32::<13>(_mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast())));
        Self(_mm256_mul_ps(_mm256_castsi256_ps(words), _mm256_set1_ps(HALF_EXPONENTS)))
    }
    #[inline(always)]
    unsafe fn load_unsigned(from: *const u8) -> Self {
        Self(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(from.cast()))))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        _mm256_storeu_ps(to, self.0);
    }
    #[inline(always)]
    unsafe fn load_part(from: *const f32, count: usize) -> Self {
        Self(_mm256_maskload_ps(from, first(count)))
    }
    #[inline(always)]
    unsafe fn store_part(self, to: *mut f32, count: usize) {
        _mm256_maskstore_ps(to, first(count), self.0);
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Self(_mm256_add_ps(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn subtract(self, other: Self) -> Self {
        Self(_mm256_sub_ps(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn multiply(self, other: Self) -> Self {
        Self(_mm256_mul_ps(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn divide(self, other: Self) -> Self {
        Self(_mm256_div_ps(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn multiply_add(self, factor: Self, addend: Self) -> Self {
        Self(_mm256_fmadd_ps(self.0, factor.0, addend.0))
    }
    #[inline(always)]
    unsafe fn at_most(self, bound: f32) -> Self {
        // The instruction returns the second operand if either operand is NaN.
        Self(_mm256_min_ps(_mm256_set1_ps(bound), self.0))
    }
    #[inline(always)]
    unsafe fn at_least(self, bound: f32) -> Self {
        Self(_mm256_max_ps(_mm256_set1_ps(bound), self.0))
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        Self(_mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(self.0))
    }
    #[inline(always)]
    unsafe fn power_of_two(self) -> Self {
        let exponent = _mm256_add_epi32(_mm256_cvtps_epi32(self.0), _mm256_set1_epi32(127));
        Self(_mm256_castsi256_ps(_mm256_slli_epi32::<23>(exponent)))
    }
    #[inline(always)]
    unsafe fn from_sums(sums: *const i32, factors: Self::Words, factor: i32, addend: i32) -> Self {
        let factors = _mm256_mullo_epi32(factors, _mm256_set1_epi32(factor));
        let sums = _mm256_add_epi32(_mm256_loadu_si256(sums.cast()), _mm256_set1_epi32(addend));
        Self(_mm256_cvtepi32_ps(_mm256_add_epi32(sums, factors)))
    }
    #[inline(always)]
    unsafe fn load_bytes(from: *const i8, count: usize) -> Self {
        let bytes = if count >= 8 {
            _mm_loadl_epi64(from.cast())
        } else {
            let mut bytes = [0i8; 16];
            core::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), count);
            _mm_loadu_si128(bytes.as_ptr().cast())
        };
        Self(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)))
    }
    #[inline(always)]
    unsafe fn store_bytes(self, zero_point: i32, to: *mut i8, count: usize) {
        let words = _mm256_add_epi32(_mm256_cvtps_epi32(self.0), _mm256_set1_epi32(zero_point));
        let halves = _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
        let bytes = _mm_packs_epi16(halves, halves);
        if count >= 8 {
            _mm_storel_epi64(to.cast(), bytes);
        } else {
            let mut all = [0i8; 16];
            _mm_storeu_si128(all.as_mut_ptr().cast(), bytes);
            core::ptr::copy_nonoverlapping(all.as_ptr(), to, count);
        }
    }
}
