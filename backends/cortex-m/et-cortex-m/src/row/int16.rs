//! Sums of products of int16 elements and int8 weights.
//!
//! Products are in blocks of 2, or of 8 in the row of Helium ([`Row::int16_block`](crate::Row::int16_block)). Columns are
//! `[block][pixel][product]`. The weights of a convolution in blocks of 2 are int8 `[channel / 2][block][product][channel % 2]`: a word has
//! the weights of two channels for a block, and `sxtb16` gives those of a channel. In blocks of 8 they are `[channel / 2][block][channel
//! % 2][product]`. The weights of a depthwise convolution are those of int8 in groups of four channels. Sums of up to [`MOST_PRODUCTS`]
//! products fit in 32 bits for any weights and columns.

#[cfg(all(target_arch = "arm", feature = "dsp"))]
mod dsp;
#[cfg(all(target_arch = "arm", feature = "mve"))]
mod mve;
mod plain;
#[cfg(all(target_arch = "arm", feature = "thumb2", not(feature = "dsp")))]
mod thumb2;

#[cfg(all(target_arch = "arm", feature = "dsp", not(feature = "mve")))]
use dsp::products as selected_products;
#[cfg(all(target_arch = "arm", feature = "dsp", not(feature = "mve")))]
pub(crate) use dsp::tile_to_int16;
#[cfg(all(target_arch = "arm", feature = "dsp"))]
pub(crate) use dsp::{depthwise, pixel_to_int16};
#[cfg(all(target_arch = "arm", feature = "mve"))]
use mve::products as selected_products;
#[cfg(all(target_arch = "arm", feature = "mve"))]
pub(crate) use mve::tile_to_int16;
#[cfg(not(all(target_arch = "arm", any(feature = "dsp", feature = "thumb2"))))]
use plain::products as selected_products;
#[cfg(not(all(target_arch = "arm", feature = "dsp")))]
pub(crate) use plain::{depthwise, pixel_to_int16, tile_to_int16};
#[cfg(all(target_arch = "arm", feature = "thumb2", not(feature = "dsp")))]
use thumb2::products as selected_products;

use super::Element;
use super::{CHANNELS, Row};
use crate::{Channel16, Limits};

/// The products of a block in the row of Helium.
#[allow(dead_code, reason = "a firmware of another row has no such blocks")]
pub(crate) const BLOCK: usize = Row::Mve.int16_block();

/// The most products whose sum fits in 32 bits for any weights and columns, in whole blocks.
pub const MOST_PRODUCTS: usize = 504;

/// Adds the products of `P` pixels and two channels, in blocks of `block`, to the sums.
#[inline(always)]
pub(crate) fn products<const P: usize>(block: usize, tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; P]) {
    // A host executes the programs of all rows.
    if cfg!(not(target_os = "none")) && block != Row::SELECTED.int16_block() {
        return plain::products_of_blocks(block, tile, weights, sums);
    }
    selected_products(tile, weights, sums);
}

/// The constants of a layer.
pub(crate) struct Layer<'m> {
    /// Packed weights.
    pub weights: &'m [i8],
    /// The constants of the channels.
    pub channels: &'m [Channel16],
    /// The limits of the results.
    pub limits: Limits,
    /// Whether sums fit in 32 bits, and all shifts are 32.
    pub narrow: bool,
    /// The products of a block.
    pub block: usize,
}

impl Element for i16 {
    #[inline(always)]
    fn expand(tile: &mut [i16], lanes: usize, pairs: &[[Self; 2]]) {
        for (slot, pair) in tile.chunks_mut((2 * lanes).max(1)).zip(pairs) {
            if let Some(slot) = slot.first_chunk_mut::<2>() {
                *slot = *pair;
            }
        }
    }
}
