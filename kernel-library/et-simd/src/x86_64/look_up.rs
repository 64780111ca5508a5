//! Lookup in a table of 256 bytes held in registers (VBMI).
#![allow(unsafe_code)] // Calls functions of `core::arch`.
#![allow(unused_unsafe)] // Where they are compiled for in any case, calling them is safe.
#![allow(clippy::cast_ptr_alignment)] // The instructions take any alignment.

use core::arch::x86_64::*;

/// Maps 64 bytes at a time and returns the number of mapped bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub fn with_vbmi(table: &[i8; 256], input: &[i8], output: &mut [i8]) -> usize {
    let whole = input.len().min(output.len()) / 64 * 64;
    // SAFETY: the table has four times 64 bytes, and `whole` is within both slices.
    unsafe {
        let part = |index: usize| _mm512_loadu_si512(table.as_ptr().add(index * 64).cast());
        let [negative, next, positive, last] = [part(0), part(1), part(2), part(3)];
        for at in (0..whole).step_by(64) {
            let bytes = _mm512_loadu_si512(input.as_ptr().add(at).cast());
            let below = _mm512_permutex2var_epi8(negative, bytes, next);
            let above = _mm512_permutex2var_epi8(positive, bytes, last);
            let result = _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), above, below);
            _mm512_storeu_si512(output.as_mut_ptr().add(at).cast(), result);
        }
    }
    whole
}
