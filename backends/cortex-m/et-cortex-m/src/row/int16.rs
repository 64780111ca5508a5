//! Sums of products of int16 elements and int8 weights.
//!
//! Columns are those of the layout of pairs. The weights of a convolution are int8 `[channel / 2][pair][product % 2][channel % 2]`: a
//! word has the weights of two channels for a pair, and `sxtb16` gives those of a channel. The weights of a depthwise convolution are
//! those of int8 in groups of four channels. Sums of up to [`MOST_PAIRS`] pairs fit in 32 bits for any weights and columns.

#[cfg(all(target_arch = "arm", feature = "dsp"))]
mod dsp;
mod plain;
#[cfg(all(target_arch = "arm", feature = "thumb2", not(feature = "dsp")))]
mod thumb2;

#[cfg(all(target_arch = "arm", feature = "dsp"))]
pub(crate) use dsp::{depthwise, pixel_to_int16, products, tile_to_int16};
#[cfg(not(all(target_arch = "arm", any(feature = "dsp", feature = "thumb2"))))]
pub(crate) use plain::products;
#[cfg(not(all(target_arch = "arm", feature = "dsp")))]
pub(crate) use plain::{depthwise, pixel_to_int16, tile_to_int16};
#[cfg(all(target_arch = "arm", feature = "thumb2", not(feature = "dsp")))]
pub(crate) use thumb2::products;

use super::Element;
use crate::{Channel16, Limits};

/// The most pairs of products whose sum fits in 32 bits for any weights and columns.
pub const MOST_PAIRS: usize = 255;

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
