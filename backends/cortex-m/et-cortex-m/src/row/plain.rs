//! Portable Rust for processors without 16-bit multiply-accumulate instructions, and for hosts.

use super::{CHANNELS, DEPTHWISE_CHANNELS, DEPTHWISE_ORDER, Taps};

/// The high half of the doubled product, rounded to nearest, halves up.
#[inline(always)]
pub const fn doubling_high_product(value: i32, multiplier: i32) -> i32 {
    ((value as i64 * multiplier as i64 + (1 << 30)) >> 31) as i32
}

/// Adds the products of `P` pixels and two channels to the sums. `tile` and `weights` have equally many pairs.
#[inline]
pub fn products<const P: usize>(tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; P]) {
    let pairs = weights.as_chunks::<{ 2 * CHANNELS }>().0;
    for (columns, [a, b, c, d]) in tile.chunks_exact(2 * P).zip(pairs) {
        let (a, b, c, d) = (i32::from(*a), i32::from(*b), i32::from(*c), i32::from(*d));
        for (sums, column) in sums.iter_mut().zip(columns.as_chunks::<2>().0) {
            let [first, second] = column.map(i32::from);
            sums[0] += first * a + second * c;
            sums[1] += first * b + second * d;
        }
    }
}

/// Adds the products of four channels to the sums.
pub fn depthwise(input: &[i8], weights: &[i16], taps: &Taps, sums: &mut [i32; DEPTHWISE_CHANNELS]) {
    if !taps.fit(input.len(), weights.len()) {
        return;
    }
    taps.for_each(|pixel, tap| {
        let pixel = input.get(pixel..).and_then(|rest| rest.first_chunk::<DEPTHWISE_CHANNELS>());
        let factors = weights.get(tap..).and_then(|rest| rest.first_chunk::<DEPTHWISE_CHANNELS>());
        if let (Some(pixel), Some(factors)) = (pixel, factors) {
            for (channel, factor) in DEPTHWISE_ORDER.iter().zip(factors) {
                sums[*channel] += i32::from(pixel[*channel]) * i32::from(*factor);
            }
        }
    });
}

/// Widens pairs of elements to `tile`, where pairs are `2 * lanes` elements apart.
pub fn expand(tile: &mut [i16], lanes: usize, pairs: &[[i8; 2]]) {
    for (slot, pair) in tile.chunks_mut((2 * lanes).max(1)).zip(pairs) {
        if let Some(slot) = slot.first_chunk_mut::<2>() {
            *slot = pair.map(i16::from);
        }
    }
}
