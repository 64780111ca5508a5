//! Portable Rust for the layout of blocks: for hosts, which execute blobs of all rows.

use super::{BLOCK_CHANNELS, Direct, Taps};
use crate::Channel;

/// The columns of pixels, one behind another.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'m> {
    /// int8 `[pixel][product]`.
    pub data: &'m [i8],
    /// Products of a pixel.
    pub products: usize,
    /// Products of a block of weights.
    pub block: usize,
}

impl<'m> Columns<'m> {
    /// The columns of `count` pixels from `first` on.
    pub fn pixels(&self, first: usize, count: usize) -> Self {
        let range = first * self.products..(first + count) * self.products;
        Self { data: self.data.get(range).unwrap_or_default(), ..*self }
    }

    /// The number of pixels.
    pub fn len(&self) -> usize {
        self.data.len().checked_div(self.products).unwrap_or(0)
    }

    /// Bytes of the weights of a panel.
    pub const fn panel_len(&self) -> usize {
        panel_len(self.products, self.block)
    }
}

/// Bytes of the weights of a panel for so many products in blocks of `block`; more than there can be where the number is too large.
pub const fn panel_len(products: usize, block: usize) -> usize {
    match products.checked_next_multiple_of(block) {
        Some(products) => products.saturating_mul(BLOCK_CHANNELS),
        None => usize::MAX,
    }
}

/// Whether [`panels_to_int8`] exists in this row.
#[allow(dead_code, reason = "another row replaces it")]
pub const ARE_BLOCKS_DIRECT: bool = false;

/// Computes the channels of whole panels for all pixels; see the row `mve`.
#[allow(dead_code, reason = "another row replaces it")]
pub fn panels_to_int8(_: &Columns<'_>, _: &[i8], _: &[[Channel; BLOCK_CHANNELS]], _: Direct, _: &mut [i8], _: usize) {}

/// The biases and the products of up to two pixels and the channels of a panel.
#[allow(dead_code, reason = "another row replaces it")]
pub fn block_sums(columns: &Columns<'_>, weights: &[i8], biases: [i32; BLOCK_CHANNELS]) -> [[i32; BLOCK_CHANNELS]; 2] {
    let mut totals = [biases; 2];
    for (column, sums) in columns.data.chunks_exact(columns.products.max(1)).zip(&mut totals) {
        let blocks = weights.chunks_exact((BLOCK_CHANNELS * columns.block).max(1));
        for (column, weights) in column.chunks(columns.block.max(1)).zip(blocks) {
            for (sum, weights) in sums.iter_mut().zip(weights.chunks_exact(columns.block.max(1))) {
                let products = column.iter().zip(weights).map(|(left, right)| i32::from(*left) * i32::from(*right));
                *sum = sum.wrapping_add(products.sum::<i32>());
            }
        }
    }
    totals
}

/// Fills `to` with rows of `len` elements, which are `stride` elements apart in `from`; nothing where `from` has too few.
#[allow(dead_code, reason = "another row replaces it")]
#[inline]
pub fn copy_rows(from: &[i8], stride: usize, to: &mut [i8], len: usize) {
    for (row, to) in to.chunks_exact_mut(len.max(1)).enumerate() {
        if let Some(from) = from.get(row * stride..).and_then(|from| from.get(..len)) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
    }
}

/// Channels of a group of [`depthwise_group`].
pub const GROUP: usize = 16;

/// Adds the products of the group of channels from `first` on to the sums, for weights `[tap][channel]` of the group.
pub fn depthwise_group(taps: &Taps<'_>, first: usize, weights: &[i8], sums: &mut [i32; GROUP]) {
    for (offset, weights) in taps.offsets.iter().zip(weights.as_chunks::<GROUP>().0) {
        for ((sum, element), weight) in sums.iter_mut().zip(taps.elements(*offset, first)).zip(weights) {
            *sum = sum.wrapping_add(i32::from(*element) * i32::from(*weight));
        }
    }
}
