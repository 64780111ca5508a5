//! AVX-512: sixteen lanes.
#![allow(unsafe_op_in_unsafe_fn, reason = "each method is one expression under the contract of the trait")]

use core::arch::x86_64::*;

use super::{HALF_EXPONENTS, Lanes};

/// Sixteen `f32`.
#[derive(Clone, Copy)]
pub struct Avx512(__m512);

/// The mask of the first `count` lanes, every lane from sixteen on.
#[inline(always)]
fn first(count: usize) -> __mmask16 {
    if count >= 16 { 0xffff } else { (1 << count) - 1 }
}

impl Avx512 {
    /// `min(self, most)` rounded to the nearest integer, ties to even; `most` is integral.
    #[inline(always)]
    unsafe fn whole_at_most(self, most: f32) -> __m512i {
        _mm512_cvtps_epi32(self.at_most(most).0)
    }

    /// Converts `i32` lanes to `f32`.
    ///
    /// # Safety
    ///
    /// The CPU has AVX-512.
    #[inline(always)]
    pub unsafe fn from_words(words: __m512i) -> Self {
        Self(_mm512_cvtepi32_ps(words))
    }
}

impl Lanes for Avx512 {
    type Words = __m512i;
    const COUNT: usize = 16;
    #[inline(always)]
    unsafe fn prefetch(from: *const u8) {
        _mm_prefetch::<_MM_HINT_T1>(from.cast());
    }
    #[inline(always)]
    unsafe fn words(from: *const i32) -> __m512i {
        _mm512_loadu_si512(from.cast())
    }
    #[inline(always)]
    unsafe fn field(words: __m512i, shift: i32, mask: i32, flipped: i32) -> Self {
        let bits = _mm512_and_si512(_mm512_srl_epi32(words, _mm_cvtsi32_si128(shift)), _mm512_set1_epi32(mask));
        Self(_mm512_cvtepi32_ps(_mm512_xor_si512(bits, _mm512_set1_epi32(flipped))))
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Self(_mm512_set1_ps(value))
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        Self(_mm512_loadu_ps(from))
    }
    #[inline(always)]
    unsafe fn load_halves(from: *const u16) -> Self {
        let words = _mm512_slli_epi32::<13>(_mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast())));
        Self(_mm512_mul_ps(_mm512_castsi512_ps(words), _mm512_set1_ps(HALF_EXPONENTS)))
    }
    #[inline(always)]
    unsafe fn load_unsigned(from: *const u8) -> Self {
        Self(_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(from.cast()))))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        _mm512_storeu_ps(to, self.0);
    }
    #[inline(always)]
    unsafe fn load_part(from: *const f32, count: usize) -> Self {
        Self(_mm512_maskz_loadu_ps(first(count), from))
    }
    #[inline(always)]
    unsafe fn store_part(self, to: *mut f32, count: usize) {
        _mm512_mask_storeu_ps(to, first(count), self.0);
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Self(_mm512_add_ps(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn subtract(self, other: Self) -> Self {
        Self(_mm512_sub_ps(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn multiply(self, other: Self) -> Self {
        Self(_mm512_mul_ps(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn divide(self, other: Self) -> Self {
        Self(_mm512_div_ps(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn multiply_add(self, factor: Self, addend: Self) -> Self {
        Self(_mm512_fmadd_ps(self.0, factor.0, addend.0))
    }
    #[inline(always)]
    unsafe fn at_most(self, bound: f32) -> Self {
        // The instruction returns the second operand if either operand is NaN.
        Self(_mm512_min_ps(_mm512_set1_ps(bound), self.0))
    }
    #[inline(always)]
    unsafe fn at_least(self, bound: f32) -> Self {
        Self(_mm512_max_ps(_mm512_set1_ps(bound), self.0))
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        Self(_mm512_roundscale_ps::<0>(self.0))
    }
    #[inline(always)]
    unsafe fn power_of_two(self) -> Self {
        let exponent = _mm512_add_epi32(_mm512_cvtps_epi32(self.0), _mm512_set1_epi32(127));
        Self(_mm512_castsi512_ps(_mm512_slli_epi32::<23>(exponent)))
    }
    #[inline(always)]
    unsafe fn from_sums(sums: *const i32, factors: Self::Words, factor: i32, addend: i32) -> Self {
        let factors = _mm512_mullo_epi32(factors, _mm512_set1_epi32(factor));
        let sums = _mm512_add_epi32(_mm512_loadu_si512(sums.cast()), _mm512_set1_epi32(addend));
        Self(_mm512_cvtepi32_ps(_mm512_add_epi32(sums, factors)))
    }
    #[inline(always)]
    unsafe fn load_bytes(from: *const i8, count: usize) -> Self {
        Self(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(first(count), from))))
    }
    #[inline(always)]
    unsafe fn store_bytes(self, zero_point: i32, to: *mut i8, count: usize) {
        let words = _mm512_add_epi32(_mm512_cvtps_epi32(self.0), _mm512_set1_epi32(zero_point));
        _mm_mask_storeu_epi8(to, first(count), _mm512_cvtepi32_epi8(words));
    }
    /// Underflow converts to `i32::MIN` and saturates to the int8 lower bound; `most` excludes overflow.
    #[inline(always)]
    unsafe fn store_four(values: [Self; 4], zero_point: i32, [least, most]: [f32; 2], to: *mut i8) {
        let zero = _mm512_set1_epi16(zero_point as i16);
        let [first, second, third, fourth] = values;
        let low = _mm512_packs_epi32(first.whole_at_most(most), second.whole_at_most(most));
        let high = _mm512_packs_epi32(third.whole_at_most(most), fourth.whole_at_most(most));
        let bytes = _mm512_packs_epi16(_mm512_adds_epi16(low, zero), _mm512_adds_epi16(high, zero));
        // The pack instructions interleave groups of four elements of each vector.
        let order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
        let bytes = _mm512_permutexvar_epi32(order, bytes);
        let least = _mm512_set1_epi8((least as i32 + zero_point) as i8);
        _mm512_storeu_si512(to.cast(), _mm512_max_epi8(bytes, least));
    }
}
