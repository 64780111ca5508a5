//! Transposition of square `f32` tiles.
#![allow(unsafe_code)] // Calls functions of `core::arch`.
#![allow(unused_unsafe)] // Where they are compiled for in any case, calling them is safe.

use core::arch::x86_64::*;

use crate::operators::intrinsics;

// The CPU has AVX. The rows of `from` are valid for reads, the rows of `to` for writes; strides are in elements.
intrinsics! {
    /// Transposes a 16 x 16 tile as four 8 x 8 tiles.
    pub unsafe fn sixteen(from: *const f32, from_step: usize, to: *mut f32, to_step: usize) = {
        eight(from, from_step, to, to_step);
        eight(from.add(8), from_step, to.add(8 * to_step), to_step);
        eight(from.add(8 * from_step), from_step, to.add(8), to_step);
        eight(from.add(8 * from_step + 8), from_step, to.add(8 * to_step + 8), to_step);
    };
    /// Transposes an 8 x 8 tile. A pair joins four elements of rows `row` and `row + 4`.
    pub unsafe fn eight(from: *const f32, from_step: usize, to: *mut f32, to_step: usize) = {
        let low = [pair(from, from_step, 0), pair(from, from_step, 1), pair(from, from_step, 2), pair(from, from_step, 3)];
        four(low, to, to_step);
        let from = from.add(4);
        let high = [pair(from, from_step, 0), pair(from, from_step, 1), pair(from, from_step, 2), pair(from, from_step, 3)];
        four(high, to.add(4 * to_step), to_step);
    };
    /// Four elements of `row`, and four elements of `row + 4`.
    unsafe fn pair(from: *const f32, step: usize, row: usize) -> __m256 = {
        let low = _mm256_castps128_ps256(_mm_loadu_ps(from.add(row * step)));
        _mm256_insertf128_ps::<1>(low, _mm_loadu_ps(from.add((row + 4) * step)))
    };
    /// Transposes four columns of eight rows to four rows of eight elements.
    unsafe fn four(rows: [__m256; 4], to: *mut f32, step: usize) = {
        let [low, high] = [_mm256_unpacklo_ps(rows[0], rows[1]), _mm256_unpackhi_ps(rows[0], rows[1])];
        let [next_low, next_high] = [_mm256_unpacklo_ps(rows[2], rows[3]), _mm256_unpackhi_ps(rows[2], rows[3])];
        _mm256_storeu_ps(to, _mm256_shuffle_ps::<0b01_00_01_00>(low, next_low));
        _mm256_storeu_ps(to.add(step), _mm256_shuffle_ps::<0b11_10_11_10>(low, next_low));
        _mm256_storeu_ps(to.add(2 * step), _mm256_shuffle_ps::<0b01_00_01_00>(high, next_high));
        _mm256_storeu_ps(to.add(3 * step), _mm256_shuffle_ps::<0b11_10_11_10>(high, next_high));
    };
}
