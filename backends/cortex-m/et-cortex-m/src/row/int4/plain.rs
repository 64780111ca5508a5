//! Portable Rust.
#![allow(dead_code, reason = "another row replaces some")]

use crate::Channel;
use crate::row::{CHANNELS, Direct};

/// Adds the products of `P` pixels and two channels to the sums.
pub fn products<const P: usize>(tile: &[i16], weights: &[u8], sums: &mut [[i32; CHANNELS]; P]) {
    #[cfg(all(target_arch = "arm", not(target_has_atomic = "32")))]
    products_of_parts(tile, weights, sums);
    #[cfg(not(all(target_arch = "arm", not(target_has_atomic = "32"))))]
    products_in_rust(tile, weights, sums);
}

/// [`products`] by the kernel for int8, a part of the weights at a time.
#[cfg(all(target_arch = "arm", not(target_has_atomic = "32")))]
fn products_of_parts<const P: usize>(tile: &[i16], weights: &[u8], sums: &mut [[i32; CHANNELS]; P]) {
    /// Pairs of a part: the weights lie on the stack.
    const PAIRS: usize = 32;
    let mut part = [0; 2 * CHANNELS * PAIRS];
    for (columns, bytes) in tile.chunks(2 * P * PAIRS).zip(weights.chunks(CHANNELS * PAIRS)) {
        unpack_pairs(bytes, &mut part);
        let weights = part.get(..CHANNELS * columns.len() / P).unwrap_or_default();
        crate::row::plain::products(columns, weights, sums);
    }
}

/// Writes int8 weights in the layout of pairs: int16 of `256 * odd + even`.
fn unpack_pairs(bytes: &[u8], part: &mut [i8]) {
    for (bytes, part) in bytes.as_chunks::<4>().0.iter().zip(part.as_chunks_mut::<8>().0) {
        let word = u32::from_le_bytes(*bytes);
        let pairs = [word >> 4, word].map(|word| packed(extended(word)).to_le_bytes().map(u8::cast_signed));
        part.as_chunks_mut::<4>().0.iter_mut().zip(pairs).for_each(|(part, pair)| *part = pair);
    }
}

/// The weights of a pair, two bytes each for an even and an odd channel, as two int16: the odd one is less by 1 above a negative even one.
#[inline(always)]
const fn packed(pair: u32) -> u32 {
    // The highest bit of a half takes the borrow.
    const HIGHEST: u32 = 0x8000_8000;
    let borrow = (pair & 0x0080_0080) << 1;
    ((pair | HIGHEST) - borrow) ^ (!pair & HIGHEST)
}

#[inline(always)]
fn products_in_rust<const P: usize>(tile: &[i16], weights: &[u8], sums: &mut [[i32; CHANNELS]; P]) {
    let mut totals = *sums;
    for (columns, bytes) in tile.chunks(4 * P).zip(weights.as_chunks::<{ 2 * CHANNELS }>().0) {
        for (columns, shift) in columns.chunks_exact(2 * P).zip([0, 4]) {
            let [even, odd, next_even, next_odd] = bytes.map(|byte| i32::from((byte << shift).cast_signed() >> 4));
            for (sums, column) in totals.iter_mut().zip(columns.as_chunks::<2>().0) {
                let [first, second] = column.map(i32::from);
                sums[0] = sums[0].wrapping_add(first * even + second * next_even);
                sums[1] = sums[1].wrapping_add(first * odd + second * next_odd);
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
    fn pairs_are_those_of_int8() {
        let (even, odd, next_even, next_odd) = (-3_i8, 0_i8, 5_i8, -8_i8);
        let upper = |weight: i8| weight.cast_unsigned() << 4;
        let bytes = [even, odd, next_even, next_odd].map(upper);
        let mut part = [0; 8];
        unpack_pairs(&bytes, &mut part);
        let expected = [(odd, even), (next_odd, next_even)].map(|(odd, even)| 256 * i16::from(odd) + i16::from(even));
        assert_eq!(part.map(i8::cast_unsigned)[..4], expected.map(i16::to_le_bytes).concat());
    }

    #[test]
    fn the_sign_of_four_bits_is_extended() {
        let bytes: [u8; 4] = [0x78, 0x0f, 0x80, 0xe7];
        let mut panel = [0; 8];
        unpack_blocks(&bytes, 4, &mut panel);
        assert_eq!(panel, [-8, -1, 0, 7, 7, 0, -8, -2]);
    }
}
