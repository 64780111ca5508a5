//! Portable Rust for processors without 16-bit multiply-accumulate instructions, and for hosts.
#![allow(dead_code, reason = "another row replaces some")]

use super::{CHANNELS, DEPTHWISE_CHANNELS, Direct, Element, Taps};
use crate::Channel;

/// Whether [`tile_to_int8`] exists in this row.
pub const IS_DIRECT: bool = false;

/// The high half of the doubled product, rounded to nearest, halves up.
#[inline(always)]
pub const fn doubling_high_product(value: i32, multiplier: i32) -> i32 {
    if IS_ARMV6M {
        return high_product_of_halves(value, multiplier);
    }
    ((value as i64 * multiplier as i64 + (1 << 30)) >> 31) as i32
}

/// Whether the processor is an Armv6-M: no product of 32 bits has 64, and no instruction compares and swaps.
pub const IS_ARMV6M: bool = cfg!(all(target_arch = "arm", not(target_has_atomic = "32")));

/// [`doubling_high_product`] of 16-bit halves, for values below 2^30.
#[inline(always)]
const fn high_product_of_halves(value: i32, multiplier: i32) -> i32 {
    let (value_low, value_high) = (value & 0xffff, value >> 16);
    let (low, high) = (multiplier & 0xffff, multiplier >> 16);
    let (low_high, high_low) = (value_low * high, value_high * low);
    let lowest = (value_low as u32).wrapping_mul(low as u32) >> 16;
    let middle = lowest as i32 + (low_high & 0xffff) + (high_low & 0xffff);
    let upper = value_high * high + (low_high >> 16) + (high_low >> 16);
    // The lowest 16 bits of the product change nothing.
    (upper << 1) + (((middle >> 14) + 1) >> 1)
}

/// Adds the products of `P` pixels and two channels to the sums. `tile` and `weights` have equally many pairs.
#[inline]
pub fn products<const P: usize>(tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; P]) {
    #[cfg(all(target_arch = "arm", not(target_has_atomic = "32")))]
    super::armv6m::products(tile, weights, sums);
    #[cfg(not(all(target_arch = "arm", not(target_has_atomic = "32"))))]
    products_in_rust(tile, weights, sums);
}

#[inline(always)]
fn products_in_rust<const P: usize>(tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; P]) {
    let pairs = weights.as_chunks::<{ 2 * CHANNELS }>().0;
    for (columns, [even, odd, next_even, next_odd]) in tile.chunks_exact(2 * P).zip(pairs) {
        let (even, next_even) = (i32::from(*even), i32::from(*next_even));
        // The upper byte of a negative even weight is one less than the odd weight.
        let (odd, next_odd) = (i32::from(*odd) - (even >> 31), i32::from(*next_odd) - (next_even >> 31));
        for (sums, column) in sums.iter_mut().zip(columns.as_chunks::<2>().0) {
            let [first, second] = column.map(i32::from);
            sums[0] = sums[0].wrapping_add(first * even + second * next_even);
            sums[1] = sums[1].wrapping_add(first * odd + second * next_odd);
        }
    }
}

/// Computes a tile of pixels; see the row `dsp`.
pub fn tile_to_int8<const P: usize>(_: (&[i16], &[i8]), _: &[Channel], _: Direct, _: &mut [i8]) {}

/// Whether [`depthwise_pixel`] exists in this row.
pub const IS_DEPTHWISE_DIRECT: bool = false;

/// Computes all channels of a pixel; see the row `dsp`.
pub fn depthwise_pixel(_: &Taps<'_>, _: &[i8], _: &[Channel], _: Direct, _: &mut [i8]) {}

/// Adds the products of four channels from `first` on to the sums; `weights` are those of the four channels.
pub fn depthwise(taps: &Taps<'_>, first: usize, weights: &[i8], sums: &mut [i32; DEPTHWISE_CHANNELS]) {
    #[cfg(all(target_arch = "arm", not(target_has_atomic = "32")))]
    if first + DEPTHWISE_CHANNELS <= taps.zeros.len() {
        return super::armv6m::depthwise(taps, first, weights, sums);
    }
    depthwise_in_rust(taps, first, weights, sums);
}

/// [`depthwise`] for elements of any width.
#[inline(always)]
pub fn depthwise_in_rust<T: Element>(
    taps: &Taps<'_, T>,
    first: usize,
    weights: &[i8],
    sums: &mut [i32; DEPTHWISE_CHANNELS],
) {
    let mut totals = *sums;
    for (offsets, weights) in taps.offsets.as_chunks::<2>().0.iter().zip(weights.as_chunks::<8>().0) {
        let [left, right] = offsets.map(|offset| taps.elements(offset, first));
        if let (Some(left), Some(right)) = (left.first_chunk(), right.first_chunk()) {
            two_taps(left, right, weights, &mut totals);
        } else {
            // Fewer channels than a group has; the weights of missing channels are 0.
            let padded = |from: &[T]| core::array::from_fn(|channel| from.get(channel).copied().unwrap_or_default());
            two_taps(&padded(left), &padded(right), weights, &mut totals);
        }
    }
    *sums = totals;
}

/// Adds the products of two taps.
#[inline(always)]
fn two_taps<T: Element>(
    left: &[T; DEPTHWISE_CHANNELS],
    right: &[T; DEPTHWISE_CHANNELS],
    weights: &[i8; 2 * DEPTHWISE_CHANNELS],
    sums: &mut [i32; DEPTHWISE_CHANNELS],
) {
    for (channel, (sum, (left, right))) in sums.iter_mut().zip(left.iter().zip(right)).enumerate() {
        let place = channel / 2 * 4 + channel % 2;
        let [left, right]: [i32; 2] = [(*left).into(), (*right).into()];
        *sum = sum.wrapping_add(left * i32::from(weights[place]) + right * i32::from(weights[place + 2]));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_give_the_product_of_words() {
        let mut value = 1_i32;
        for _ in 0..10_000 {
            value = value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (small, multiplier) = (value >> 2 >> (value & 15), value.rotate_left(16) | 1 << 30 & i32::MAX);
            let expected = ((i64::from(small) * i64::from(multiplier) + (1 << 30)) >> 31) as i32;
            assert_eq!(high_product_of_halves(small, multiplier), expected, "{small} {multiplier}");
        }
    }
}
