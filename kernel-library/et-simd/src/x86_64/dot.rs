//! int8 dot products on x86-64: `vpmaddwd` on pairs widened to 16 bits with AVX2 and AVX-512, `vpdpbusd` on four int8
//! with VNNI.
//!
//! `vpdpbusd` multiplies unsigned by signed int8. In a depthwise convolution the first operand carries an offset of 128.
//! The packed weights of a GEMM carry an offset of +128 (u8), so that the int8 activations need no conversion; the
//! epilogue subtracts 128 times the row sum of the activations. AVX2 reads the same weights, and zero-extends u8 with
//! fewer instructions than AVX2 needs to sign-extend i8.
#![allow(unsafe_code)] // Calls functions of `core::arch`, which exist only where the processor has the instructions.
#![allow(unused_unsafe)] // Where they are compiled for in any case, calling them is safe.
#![allow(unsafe_op_in_unsafe_fn)] // Each method of a GEMM is one expression under the contract of the trait.
#![allow(clippy::cast_ptr_alignment)] // The instructions take any alignment.

use core::arch::x86_64::*;

use super::avx2::{Avx2, I32x8};
use super::avx512::{Avx512, I32x16};
use crate::operators::intrinsics;
use crate::{Dot, DotWork, GemmDot, Simd, part_of_word, word};

impl Dot for Avx2 {
    type Isa = Avx2;
    const TAPS: usize = 2;

    intrinsics! {
        fn isa(self) -> Avx2 = self;
        fn second_factor(self, bytes: I32x8) -> I32x8 = bytes;
        fn add_products(self, sum: I32x8, first: I32x8, second: I32x8) -> I32x8 =
            I32x8(_mm256_add_epi32(sum.0, _mm256_madd_epi16(first.0, second.0)));
    }
    intrinsics! {
        unsafe fn shift_in<const N: usize>(self, bytes: I32x8, from: [*const i8; N]) -> I32x8 = {
            let low = if N == 1 { _mm256_srli_epi32::<16>(bytes.0) } else { self.read_i8(from[0]).0 };
            let high = _mm256_slli_epi32::<16>(self.read_i8(from[N - 1]).0);
            I32x8(_mm256_blend_epi16::<0b1010_1010>(low, high))
        };
    }
}

impl Dot for Avx512 {
    type Isa = Avx512;
    const TAPS: usize = 2;

    intrinsics! {
        fn isa(self) -> Avx512 = self;
        fn second_factor(self, bytes: I32x16) -> I32x16 = bytes;
        fn add_products(self, sum: I32x16, first: I32x16, second: I32x16) -> I32x16 =
            I32x16(_mm512_add_epi32(sum.0, _mm512_madd_epi16(first.0, second.0)));
    }
    intrinsics! {
        unsafe fn shift_in<const N: usize>(self, bytes: I32x16, from: [*const i8; N]) -> I32x16 = {
            const HIGH_WORDS: u32 = 0xAAAA_AAAA;
            let low = if N == 1 { _mm512_srli_epi32::<16>(bytes.0) } else { self.read_i8(from[0]).0 };
            let high = _mm512_slli_epi32::<16>(self.read_i8(from[N - 1]).0);
            I32x16(_mm512_mask_blend_epi16(HIGH_WORDS, low, high))
        };
    }
}

/// Shuffle indices that place a byte of the source in byte 2, or byte 3, of each lane. The source is repeated in every
/// 128-bit part, so that part `i` selects bytes `4 * i` to `4 * i + 3`; index -1 yields 0.
static PLACES: [[[i8; 16]; 4]; 2] = {
    let mut places = [[[-1; 16]; 4]; 2];
    let mut lane = 0;
    while lane < 16 {
        places[0][lane / 4][lane % 4 * 4 + 2] = lane as i8;
        places[1][lane / 4][lane % 4 * 4 + 3] = lane as i8;
        lane += 1;
    }
    places
};

/// The sign bits of the last byte, or the last two bytes, of a lane: flipping adds the offset of 128.
const OFFSETS: [i32; 2] = [0x8000_0000_u32.cast_signed(), 0x8080_0000_u32.cast_signed()];

intrinsics! {
    /// Eight bytes, each in byte 2 (`which` 0) or byte 3 (`which` 1) of a lane.
    unsafe fn place_eight(from: *const i8, which: usize) -> __m256i = {
        let eight = _mm256_set1_epi64x(from.cast::<i64>().read_unaligned());
        _mm256_shuffle_epi8(eight, _mm256_loadu_si256(PLACES[which].as_ptr().cast()))
    };
    /// Sixteen bytes, each in byte 2 (`which` 0) or byte 3 (`which` 1) of a lane.
    unsafe fn place_sixteen(from: *const i8, which: usize) -> __m512i = {
        let sixteen = _mm512_broadcast_i32x4(_mm_loadu_si128(from.cast()));
        _mm512_shuffle_epi8(sixteen, _mm512_loadu_si512(PLACES[which].as_ptr().cast()))
    };
    unsafe fn shift_in_eight<const N: usize>(bytes: I32x8, from: [*const i8; N]) -> I32x8 = {
        let last = _mm256_xor_si256(place_eight(from[N - 1], 1), _mm256_set1_epi32(OFFSETS[N - 1]));
        I32x8(if N == 1 {
            _mm256_or_si256(_mm256_srli_epi32::<8>(bytes.0), last)
        } else {
            let both = _mm256_xor_si256(place_eight(from[0], 0), last);
            _mm256_or_si256(_mm256_srli_epi32::<16>(bytes.0), both)
        })
    };
    /// The truth table is that of `first | (second ^ third)`.
    unsafe fn shift_in_sixteen<const N: usize>(bytes: I32x16, from: [*const i8; N]) -> I32x16 = {
        let (last, offset) = (place_sixteen(from[N - 1], 1), _mm512_set1_epi32(OFFSETS[N - 1]));
        I32x16(if N == 1 {
            _mm512_ternarylogic_epi32::<0b1111_0110>(_mm512_srli_epi32::<8>(bytes.0), last, offset)
        } else {
            let both = _mm512_or_si512(place_sixteen(from[0], 0), last);
            _mm512_ternarylogic_epi32::<0b1111_0110>(_mm512_srli_epi32::<16>(bytes.0), both, offset)
        })
    };
    /// Adds the last `count` i8 of a row, fewer than a register, and copies the bytes unless `to` is null. A whole register
    /// store is faster than a masked store, and the next copy overwrites the excess.
    unsafe fn add_masked(sum: I32x16, from: *const i8, to: *mut i8, count: usize) -> I32x16 = {
        let bytes = _mm512_maskz_loadu_epi8((1u64 << count) - 1, from);
        if !to.is_null() {
            _mm512_storeu_si512(to.cast(), bytes);
        }
        Avx512Vnni::add_bytes(sum, I32x16(bytes))
    };
}

/// Defines a dot product of four int8 per lane.
macro_rules! vnni {
    ($(#[$doc:meta])* $name:ident, $isa:ident, $vector:ident, features $features:literal, add $dpbusd:ident,
        flip $xor:ident $set1:ident, shift_in $shift_in:ident, GEMV sets $sets:literal, add_rest $add_rest:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name($isa);

        impl $name {
            /// The dot product, if the CPU has the ISA.
            pub fn detect(isa: $isa) -> Option<Self> {
                crate::Isa::$name.is_available().then_some(Self(isa))
            }
        }

        impl Dot for $name {
            type Isa = $isa;
            const TAPS: usize = 4;

            #[inline(always)]
            fn compile<W: DotWork>(self, work: W) -> W::Output {
                #[target_feature(enable = $features)]
                fn compiled<W: DotWork>(dot: $name, work: W) -> W::Output {
                    work.run(dot)
                }
                // SAFETY: the token proves that the CPU has the ISA.
                unsafe { compiled(self, work) }
            }
            intrinsics! {
                fn isa(self) -> $isa = self.0;
                fn second_factor(self, bytes: $vector) -> $vector = $vector($xor(bytes.0, $set1(i8::MIN)));
                fn add_products(self, sum: $vector, first: $vector, second: $vector) -> $vector =
                    $vector($dpbusd(sum.0, first.0, second.0));
            }
            intrinsics! {
                unsafe fn shift_in<const N: usize>(self, bytes: $vector, from: [*const i8; N]) -> $vector =
                    $shift_in::<N>(bytes, from);
            }
        }

        impl GemmDot for $name {
            type Weights = $vector;
            type Activation = $vector;
            const PACKED_LANES: usize = 16;
            const GEMV_SETS: usize = $sets;
            intrinsics! {
                unsafe fn weights(bytes: $vector) -> $vector = bytes;
                unsafe fn activation(bytes: $vector) -> $vector = bytes;
                unsafe fn add(sum: $vector, weights: $vector, activation: $vector) -> $vector =
                    $vector($dpbusd(sum.0, weights.0, activation.0));
                unsafe fn add_rest(sum: $vector, from: *const i8, to: *mut i8, count: usize) -> $vector =
                    $add_rest(sum, from, to, count);
            }
        }
    };
}

vnni!(
    /// Four int8 per lane with AVX-VNNI.
    AvxVnni, Avx2, I32x8, features "avx2,avxvnni,fma,f16c,bmi1,bmi2,popcnt", add _mm256_dpbusd_avx_epi32,
    flip _mm256_xor_si256 _mm256_set1_epi8, shift_in shift_in_eight, GEMV sets 2, add_rest add_parts
);
vnni!(
    /// Four int8 per lane with AVX-512 VNNI.
    Avx512Vnni, Avx512, I32x16,
    features "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c,bmi1,bmi2,popcnt", add _mm512_dpbusd_epi32,
    flip _mm512_xor_si512 _mm512_set1_epi8, shift_in shift_in_sixteen, GEMV sets 4, add_rest add_masked
);

/// `vpmaddwd` on int8 pairs (0, 2) and (1, 3) of each lane, widened to 16 bits, so that no product saturates.
impl GemmDot for Avx2 {
    type Weights = [__m256i; 2];
    type Activation = [__m256i; 2];
    const PACKED_LANES: usize = 16;
    const GEMV_SETS: usize = 1;

    intrinsics! {
        /// Zero-extends u8: pairs (0, 2) and (1, 3) of each lane.
        unsafe fn weights(bytes: I32x8) -> [__m256i; 2] =
            [_mm256_and_si256(bytes.0, _mm256_set1_epi16(0xFF)), _mm256_srli_epi16::<8>(bytes.0)];
        /// Sign-extends i8: pairs (0, 2) and (1, 3) of each lane.
        unsafe fn activation(bytes: I32x8) -> [__m256i; 2] =
            [_mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(bytes.0)), _mm256_srai_epi16::<8>(bytes.0)];
        unsafe fn add(sum: I32x8, weights: [__m256i; 2], activation: [__m256i; 2]) -> I32x8 = {
            let even = _mm256_add_epi32(sum.0, _mm256_madd_epi16(weights[0], activation[0]));
            I32x8(_mm256_add_epi32(even, _mm256_madd_epi16(weights[1], activation[1])))
        };
        unsafe fn add_bytes(sum: I32x8, bytes: I32x8) -> I32x8 = {
            let pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), bytes.0);
            I32x8(_mm256_add_epi32(sum.0, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))))
        };
        unsafe fn add_rest(sum: I32x8, from: *const i8, to: *mut i8, count: usize) -> I32x8 =
            add_parts(sum, from, to, count);
    }
}

/// Adds the last `count` i8 of a row, fewer than a register, and copies the bytes unless `to` is null.
#[inline(always)]
unsafe fn add_parts(mut sum: I32x8, from: *const i8, to: *mut i8, count: usize) -> I32x8 {
    let mut done = 0;
    while done + 8 <= count {
        let eight = _mm_loadl_epi64(from.add(done).cast());
        if !to.is_null() {
            _mm_storel_epi64(to.add(done).cast(), eight);
        }
        sum = <Avx2 as GemmDot>::add_bytes(sum, I32x8(_mm256_zextsi128_si256(eight)));
        done += 8;
    }
    while done < count {
        let left = count - done;
        let four = if left >= 4 { word(from.add(done)) } else { part_of_word(from.add(done), left) };
        if !to.is_null() {
            to.add(done).cast::<i32>().write_unaligned(four);
        }
        sum = <Avx2 as GemmDot>::add_bytes(sum, I32x8(_mm256_zextsi128_si256(_mm_cvtsi32_si128(four))));
        done += 4;
    }
    sum
}
