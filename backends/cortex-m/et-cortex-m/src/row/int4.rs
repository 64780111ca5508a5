//! int4 weights of convolutions: a byte has two.
//!
//! For the layout of pairs, the weights are `[channel / 2][pair / 2][product % 2][channel % 2]` bytes: the first of two pairs has the upper
//! bits. So a mask gives a word of int8 weights times 16, whose sums are exact in 32 bits. For the layout of blocks, the int8 weights
//! of a panel are halves of [`half`] bytes: the first of two has the lower bits.
//!
//! The row `dsp` takes the weights from the bytes in its inner loop; the others unpack a panel before.

#[cfg(all(target_arch = "arm", feature = "dsp", not(feature = "mve")))]
mod dsp;
#[cfg(all(target_arch = "arm", feature = "mve"))]
mod mve;
mod plain;

#[cfg(all(target_arch = "arm", feature = "dsp", not(feature = "mve")))]
pub(crate) use dsp::{products, tile_to_int8};
#[cfg(all(target_arch = "arm", feature = "mve"))]
pub(crate) use mve::unpack_blocks;
#[cfg(not(all(target_arch = "arm", feature = "mve")))]
pub(crate) use plain::unpack_blocks;
#[cfg(not(all(target_arch = "arm", feature = "dsp", not(feature = "mve"))))]
pub(crate) use plain::{products, tile_to_int8};

/// The int8 weights that the lower bits of neighbouring bytes have, in a panel of the layout of blocks.
pub const fn half(block: usize) -> usize {
    if block > 4 { block } else { 4 }
}
