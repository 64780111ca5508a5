//! Portable Rust.
#![allow(dead_code, reason = "another row replaces some")]

use crate::Channel;
use crate::row::{CHANNELS, Direct};

/// Adds the products of `P` pixels and two channels to the sums.
pub fn products<const P: usize>(tile: &[i16], weights: &[u8], sums: &mut [[i32; CHANNELS]; P]) {
    let mut totals = *sums;
    for (columns, bytes) in tile.chunks(4 * P).zip(weights.as_chunks::<{ 2 * CHANNELS }>().0) {
        for (columns, shift) in columns.chunks_exact(2 * P).zip([0, 4]) {
            let [even, odd, next_even, next_odd] = bytes.map(|byte| i32::from((byte << shift).cast_signed() >> 4));
            for (sums, column) in totals.iter_mut().zip(columns.as_chunks::<2>().0) {
                let [first, second] = column.map(i32::from);
                sums[0] += first * even + second * next_even;
                sums[1] += first * odd + second * next_odd;
            }
        }
    }
    *sums = totals;
}

/// Computes a tile of pixels; see the row `dsp`.
pub fn tile_to_int8<const P: usize>(_: (&[i16], &[u8]), _: &[Channel], _: Direct, _: &mut [i8]) {}

/// Writes the int8 weights of a panel, whose halves have `half` bytes, a multiple of 4.
pub fn unpack_blocks(bytes: &[u8], half: usize, panel: &mut [i8]) {
    for (bytes, panel) in bytes.chunks_exact(half.max(1)).zip(panel.chunks_exact_mut((2 * half).max(1))) {
        let (low, high) = panel.split_at_mut(half);
        let words = bytes.as_chunks::<4>().0.iter().zip(low.as_chunks_mut::<4>().0).zip(high.as_chunks_mut::<4>().0);
        for ((bytes, low), high) in words {
            let word = u32::from_le_bytes(*bytes);
            *low = extended(word).to_le_bytes().map(u8::cast_signed);
            *high = extended(word >> 4).to_le_bytes().map(u8::cast_signed);
        }
    }
}

/// The lower four bits of each byte as int8.
#[inline(always)]
const fn extended(word: u32) -> u32 {
    // The sign bit, times 30, is the upper four bits.
    let sign = word & 0x0808_0808;
    word & 0x0f0f_0f0f | sign.wrapping_mul(30)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sign_of_four_bits_is_extended() {
        let bytes: [u8; 4] = [0x78, 0x0f, 0x80, 0xe7];
        let mut panel = [0; 8];
        unpack_blocks(&bytes, 4, &mut panel);
        assert_eq!(panel, [-8, -1, 0, 7, 7, 0, -8, -2]);
    }
}
