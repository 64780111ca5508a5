//! Portable Rust for processors without 16-bit multiply-accumulate instructions, and for hosts.
#![allow(dead_code, reason = "another row replaces some")]

use super::{CHANNELS, DEPTHWISE_CHANNELS, Direct, Taps};
use crate::Channel;

/// Whether [`tile_to_int8`] and [`depthwise_pixel`] exist in this row.
pub const IS_DIRECT: bool = false;

/// The high half of the doubled product, rounded to nearest, halves up.
#[inline(always)]
pub const fn doubling_high_product(value: i32, multiplier: i32) -> i32 {
    ((value as i64 * multiplier as i64 + (1 << 30)) >> 31) as i32
}

/// Adds the products of `P` pixels and two channels to the sums. `tile` and `weights` have equally many pairs.
#[inline]
pub fn products<const P: usize>(tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; P]) {
    let pairs = weights.as_chunks::<{ 2 * CHANNELS }>().0;
    for (columns, [even, odd, next_even, next_odd]) in tile.chunks_exact(2 * P).zip(pairs) {
        let (even, next_even) = (i32::from(*even), i32::from(*next_even));
        // The upper byte of a negative even weight is one less than the odd weight.
        let (odd, next_odd) = (i32::from(*odd) - (even >> 31), i32::from(*next_odd) - (next_even >> 31));
        for (sums, column) in sums.iter_mut().zip(columns.as_chunks::<2>().0) {
            let [first, second] = column.map(i32::from);
            sums[0] += first * even + second * next_even;
            sums[1] += first * odd + second * next_odd;
        }
    }
}

/// Computes a tile of pixels; see the row `dsp`.
pub fn tile_to_int8<const P: usize>(_: (&[i16], &[i8]), _: &[Channel], _: Direct, _: &mut [i8]) {}

/// Computes all channels of a pixel; see the row `dsp`.
pub fn depthwise_pixel(_: &Taps<'_>, _: &[i8], _: &[Channel], _: Direct, _: &mut [i8]) {}

/// Adds the products of four channels from `first` on to the sums; `weights` are those of the four channels.
pub fn depthwise(taps: &Taps<'_>, first: usize, weights: &[i8], sums: &mut [i32; DEPTHWISE_CHANNELS]) {
    let outside = Taps::outside(taps.image, taps.zeros);
    let elements = |offset: u32| {
        let (from, start) = if offset == outside { (taps.zeros, first) } else { (taps.image, offset as usize + first) };
        from.get(start..).unwrap_or_default()
    };
    for (offsets, weights) in taps.offsets.as_chunks::<2>().0.iter().zip(weights.as_chunks::<8>().0) {
        let [left, right] = offsets.map(elements);
        if let (Some(left), Some(right)) = (left.first_chunk(), right.first_chunk()) {
            two_taps(left, right, weights, sums);
        } else {
            // Fewer channels than a group has; the weights of missing channels are 0.
            let padded = |from: &[i8]| core::array::from_fn(|channel| from.get(channel).copied().unwrap_or_default());
            two_taps(&padded(left), &padded(right), weights, sums);
        }
    }
}

/// Adds the products of two taps.
#[inline(always)]
fn two_taps(
    left: &[i8; DEPTHWISE_CHANNELS],
    right: &[i8; DEPTHWISE_CHANNELS],
    weights: &[i8; 2 * DEPTHWISE_CHANNELS],
    sums: &mut [i32; DEPTHWISE_CHANNELS],
) {
    for (channel, (sum, (left, right))) in sums.iter_mut().zip(left.iter().zip(right)).enumerate() {
        let place = channel / 2 * 4 + channel % 2;
        *sum += i32::from(*left) * i32::from(weights[place]) + i32::from(*right) * i32::from(weights[place + 2]);
    }
}

/// Widens pairs of elements to `tile`, where pairs are `2 * lanes` elements apart.
pub fn expand(tile: &mut [i16], lanes: usize, pairs: &[[i8; 2]]) {
    for (slot, pair) in tile.chunks_mut((2 * lanes).max(1)).zip(pairs) {
        if let Some(slot) = slot.first_chunk_mut::<2>() {
            *slot = pair.map(i16::from);
        }
    }
}
