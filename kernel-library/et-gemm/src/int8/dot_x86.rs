//! int8 dot products on x86-64.
//!
//! `vpdpbusd` of VNNI multiplies unsigned by signed int8. The packed weights carry an offset of +128 (u8), so that the
//! int8 activations need no conversion; the epilogue subtracts 128 times the row sum of the activations. AVX2 reads the
//! same weights, and zero-extends u8 with fewer instructions than AVX2 needs to sign-extend i8.
#![allow(unsafe_code, reason = "instructions exist only on processors that have them, and memory is read by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each method is one expression under the contract of the trait")]

use core::arch::x86_64::*;

use et_simd::{I32x8, I32x16, Integer};

use super::dot::{Dots, Real, part_of_word, word};

/// Prefetches the cache lines of `count` bytes.
#[inline(always)]
fn prefetch(from: *const u8, count: usize) {
    for line in (0..count).step_by(64) {
        // SAFETY: every processor of this architecture has the instruction, which accepts any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(line).cast()) };
    }
}

/// Sixteen int32 accumulators with AVX-512 VNNI.
#[derive(Clone, Copy)]
pub struct Avx512Vnni(__m512i);

impl Avx512Vnni {
    /// Loads sixteen accumulators.
    ///
    /// # Safety
    ///
    /// The CPU has AVX-512 VNNI; `from` is valid for sixteen `i32`.
    #[inline(always)]
    pub unsafe fn load(from: *const i32) -> Self {
        Self(_mm512_loadu_si512(from.cast()))
    }
}

impl Dots for Avx512Vnni {
    type Weights = __m512i;
    type Activation = __m512i;
    type Isa = et_simd::Avx512;
    const LANES: usize = 16;
    #[inline(always)]
    fn prefetch(from: *const u8, count: usize) {
        prefetch(from, count);
    }
    #[inline(always)]
    unsafe fn unpack_int4(from: *const u8) -> [__m512i; 2] {
        let (bytes, mask) = (_mm512_loadu_si512(from.cast()), _mm512_set1_epi8(15));
        [_mm512_and_si512(bytes, mask), _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), mask)]
    }
    #[inline(always)]
    unsafe fn splat(value: i32) -> Self {
        Self(_mm512_set1_epi32(value))
    }
    #[inline(always)]
    unsafe fn real(self) -> Real<Self> {
        I32x16::new(self.0).to_float()
    }
    #[inline(always)]
    unsafe fn zero() -> Self {
        Self(_mm512_setzero_si512())
    }
    #[inline(always)]
    unsafe fn weights(from: *const u8) -> __m512i {
        _mm512_loadu_si512(from.cast())
    }
    #[inline(always)]
    unsafe fn spread(word: i32) -> __m512i {
        _mm512_set1_epi32(word)
    }
    #[inline(always)]
    unsafe fn add(self, weights: __m512i, activation: __m512i) -> Self {
        Self(_mm512_dpbusd_epi32(self.0, weights, activation))
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        Self(_mm512_add_epi32(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut i32) {
        _mm512_storeu_si512(to.cast(), self.0);
    }
    const CHUNK: usize = 64;
    #[inline(always)]
    unsafe fn take_chunk(self, from: *const i8, to: *mut i8) -> Self {
        let bytes = _mm512_loadu_si512(from.cast());
        if !to.is_null() {
            _mm512_storeu_si512(to.cast(), bytes);
        }
        Self(_mm512_dpbusd_epi32(self.0, _mm512_set1_epi8(1), bytes))
    }
    #[inline(always)]
    unsafe fn take_rest(self, from: *const i8, to: *mut i8, count: usize, rest: i32) -> (Self, i32) {
        let mask = (1u64 << count) - 1;
        let bytes = _mm512_maskz_loadu_epi8(mask, from);
        // A full register store is faster than a masked store, and the next copy overwrites the excess.
        if !to.is_null() {
            _mm512_storeu_si512(to.cast(), bytes);
        }
        (Self(_mm512_dpbusd_epi32(self.0, _mm512_set1_epi8(1), bytes)), rest)
    }
    #[inline(always)]
    unsafe fn total(self) -> i32 {
        _mm512_reduce_add_epi32(self.0)
    }
}

/// Eight int32 accumulators with AVX-VNNI.
#[derive(Clone, Copy)]
pub struct AvxVnni(__m256i);

impl Dots for AvxVnni {
    type Weights = __m256i;
    type Activation = __m256i;
    type Isa = et_simd::Avx2;
    const LANES: usize = 8;
    const PACKED_LANES: usize = 16;
    const GEMV_SETS: usize = 2;
    #[inline(always)]
    fn prefetch(from: *const u8, count: usize) {
        prefetch(from, count);
    }
    #[inline(always)]
    unsafe fn unpack_int4(from: *const u8) -> [__m256i; 2] {
        let (bytes, mask) = (_mm256_loadu_si256(from.cast()), _mm256_set1_epi8(15));
        [_mm256_and_si256(bytes, mask), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), mask)]
    }
    #[inline(always)]
    unsafe fn splat(value: i32) -> Self {
        Self(_mm256_set1_epi32(value))
    }
    #[inline(always)]
    unsafe fn real(self) -> Real<Self> {
        I32x8::new(self.0).to_float()
    }
    #[inline(always)]
    unsafe fn zero() -> Self {
        Self(_mm256_setzero_si256())
    }
    #[inline(always)]
    unsafe fn weights(from: *const u8) -> __m256i {
        _mm256_loadu_si256(from.cast())
    }
    #[inline(always)]
    unsafe fn spread(word: i32) -> __m256i {
        _mm256_set1_epi32(word)
    }
    #[inline(always)]
    unsafe fn add(self, weights: __m256i, activation: __m256i) -> Self {
        Self(_mm256_dpbusd_avx_epi32(self.0, weights, activation))
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        Self(_mm256_add_epi32(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut i32) {
        _mm256_storeu_si256(to.cast(), self.0);
    }
    const CHUNK: usize = 32;
    #[inline(always)]
    unsafe fn take_chunk(self, from: *const i8, to: *mut i8) -> Self {
        let bytes = _mm256_loadu_si256(from.cast());
        if !to.is_null() {
            _mm256_storeu_si256(to.cast(), bytes);
        }
        Self(_mm256_dpbusd_avx_epi32(self.0, _mm256_set1_epi8(1), bytes))
    }
    #[inline(always)]
    unsafe fn take_rest(self, from: *const i8, to: *mut i8, count: usize, rest: i32) -> (Self, i32) {
        (Self(add_rest(self.0, from, to, count)), rest)
    }
    #[inline(always)]
    unsafe fn total(self) -> i32 {
        total(self.0)
    }
}

/// Eight int32 accumulators with AVX2: `vpmaddwd` on int8 pairs (0, 2) and (1, 3) of each lane, widened to 16 bits, so
/// that no product saturates.
#[derive(Clone, Copy)]
pub struct Avx2(__m256i);

/// Zero-extends u8: pairs (0, 2) and (1, 3) of each lane.
#[inline(always)]
unsafe fn unsigned_pairs(bytes: __m256i) -> [__m256i; 2] {
    [_mm256_and_si256(bytes, _mm256_set1_epi16(0xFF)), _mm256_srli_epi16::<8>(bytes)]
}

/// Sign-extends i8: pairs (0, 2) and (1, 3) of each lane.
#[inline(always)]
unsafe fn signed_pairs(bytes: __m256i) -> [__m256i; 2] {
    [_mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(bytes)), _mm256_srai_epi16::<8>(bytes)]
}

/// Adds the i8 of `bytes` to the lanes.
#[inline(always)]
unsafe fn add_bytes(sum: __m256i, bytes: __m256i) -> __m256i {
    let pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), bytes);
    _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
}

/// The sum of eight lanes.
#[inline(always)]
unsafe fn total(sum: __m256i) -> i32 {
    let four = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b1110>(four));
    _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<1>(two)))
}

/// Adds the last `count` i8 of a row, fewer than a register, and copies the bytes unless `to` is null.
#[inline(always)]
unsafe fn add_rest(mut sum: __m256i, from: *const i8, to: *mut i8, count: usize) -> __m256i {
    let mut done = 0;
    while done + 8 <= count {
        let eight = _mm_loadl_epi64(from.add(done).cast());
        if !to.is_null() {
            _mm_storel_epi64(to.add(done).cast(), eight);
        }
        sum = add_bytes(sum, _mm256_zextsi128_si256(eight));
        done += 8;
    }
    while done < count {
        let left = count - done;
        let four = if left >= 4 { word(from.add(done)) } else { part_of_word(from.add(done), left) };
        if !to.is_null() {
            to.add(done).cast::<i32>().write_unaligned(four);
        }
        sum = add_bytes(sum, _mm256_zextsi128_si256(_mm_cvtsi32_si128(four)));
        done += 4;
    }
    sum
}

impl Dots for Avx2 {
    type Weights = [__m256i; 2];
    type Activation = [__m256i; 2];
    type Isa = et_simd::Avx2;
    const LANES: usize = 8;
    const PACKED_LANES: usize = 16;
    const GEMV_SETS: usize = 1;
    #[inline(always)]
    fn prefetch(from: *const u8, count: usize) {
        prefetch(from, count);
    }
    #[inline(always)]
    unsafe fn unpack_int4(from: *const u8) -> [[__m256i; 2]; 2] {
        let (bytes, mask) = (_mm256_loadu_si256(from.cast()), _mm256_set1_epi8(15));
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), mask);
        [unsigned_pairs(_mm256_and_si256(bytes, mask)), unsigned_pairs(high)]
    }
    #[inline(always)]
    unsafe fn splat(value: i32) -> Self {
        Self(_mm256_set1_epi32(value))
    }
    #[inline(always)]
    unsafe fn real(self) -> Real<Self> {
        I32x8::new(self.0).to_float()
    }
    #[inline(always)]
    unsafe fn zero() -> Self {
        Self(_mm256_setzero_si256())
    }
    #[inline(always)]
    unsafe fn weights(from: *const u8) -> [__m256i; 2] {
        unsigned_pairs(_mm256_loadu_si256(from.cast()))
    }
    #[inline(always)]
    unsafe fn spread(word: i32) -> [__m256i; 2] {
        signed_pairs(_mm256_set1_epi32(word))
    }
    #[inline(always)]
    unsafe fn add(self, weights: [__m256i; 2], activation: [__m256i; 2]) -> Self {
        let even = _mm256_add_epi32(self.0, _mm256_madd_epi16(weights[0], activation[0]));
        Self(_mm256_add_epi32(even, _mm256_madd_epi16(weights[1], activation[1])))
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        Self(_mm256_add_epi32(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut i32) {
        _mm256_storeu_si256(to.cast(), self.0);
    }
    const CHUNK: usize = 32;
    #[inline(always)]
    unsafe fn take_chunk(self, from: *const i8, to: *mut i8) -> Self {
        let bytes = _mm256_loadu_si256(from.cast());
        if !to.is_null() {
            _mm256_storeu_si256(to.cast(), bytes);
        }
        Self(add_bytes(self.0, bytes))
    }
    #[inline(always)]
    unsafe fn take_rest(self, from: *const i8, to: *mut i8, count: usize, rest: i32) -> (Self, i32) {
        (Self(add_rest(self.0, from, to, count)), rest)
    }
    #[inline(always)]
    unsafe fn total(self) -> i32 {
        total(self.0)
    }
}
