//! Portable Rust.
#![allow(dead_code, reason = "the row `dsp` replaces some")]

use crate::row::plain::depthwise_in_rust;
use crate::row::{CHANNELS, DEPTHWISE_CHANNELS, Taps};

use super::Layer;

/// Adds the products of `P` pixels and two channels to the sums.
pub fn products<const P: usize>(tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; P]) {
    let mut totals = *sums;
    for (columns, weights) in tile.chunks_exact(2 * P).zip(weights.as_chunks::<{ 2 * CHANNELS }>().0) {
        let [even, odd, next_even, next_odd] = weights.map(i32::from);
        for (sums, column) in totals.iter_mut().zip(columns.as_chunks::<2>().0) {
            let [first, second] = column.map(i32::from);
            sums[0] = sums[0].wrapping_add(first * even + second * next_even);
            sums[1] = sums[1].wrapping_add(first * odd + second * next_odd);
        }
    }
    *sums = totals;
}

/// Adds the products of `P` pixels and two channels, in blocks in which a channel's weights are neighbours, to the sums.
pub fn products_of_blocks<const P: usize>(block: usize, tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; P]) {
    let block = block.max(1);
    for (columns, weights) in tile.chunks_exact(block * P).zip(weights.chunks_exact(block * CHANNELS)) {
        for (sums, column) in sums.iter_mut().zip(columns.chunks_exact(block)) {
            for (sum, weights) in sums.iter_mut().zip(weights.chunks_exact(block)) {
                let products =
                    column.iter().zip(weights).map(|(element, weight)| i32::from(*element) * i32::from(*weight));
                *sum = sum.wrapping_add(products.sum::<i32>());
            }
        }
    }
}

/// Adds the products of four channels from `first` on to the sums; `weights` are those of the four channels.
pub fn depthwise(taps: &Taps<'_, i16>, first: usize, weights: &[i8], sums: &mut [i32; DEPTHWISE_CHANNELS]) {
    depthwise_in_rust(taps, first, weights, sums);
}

/// Computes a tile of pixels; see the row `dsp`.
pub const fn tile_to_int16<const P: usize>(_: &[i16], _: &Layer<'_>, _: &mut [i16]) -> bool {
    false
}

/// Computes all channels of a pixel; see the row `dsp`.
pub const fn pixel_to_int16(_: &Taps<'_, i16>, _: &Layer<'_>, _: &mut [i16]) -> bool {
    false
}
