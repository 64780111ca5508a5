//! The inner loops, in a row per instruction set, and the layouts that they read.
//!
//! In the layout of pairs, the columns of a tile of pixels are int16: `[pair][pixel][2]`, where a pair is two neighbouring products of
//! a sum. The weights of a convolution are `[channel / 2][pair][2]` int16, each the weights of two channels for a product: `256 * odd +
//! even`. With columns `x`, the sum of `x * (256 * odd + even)` less the sum of `x * even` is 256 times the sum of the odd channel,
//! so that a single `sxtb16` for each pair suffices. Sums of up to [`MOST_PAIRS`] pairs are exact in this form.
//!
//! In the layout of blocks, the columns are int8: `[pixel][product]`, which is the image itself for a pointwise convolution or a linear
//! layer. The weights are int8: `[channel / 4][block][channel % 4][product]`, where a block is 1 or 16 products. Products behind the
//! last have weights 0.
//!
//! The weights of a depthwise convolution are int8: `[channel / 4][tap / 2][channel / 2 % 2][tap % 2][channel % 2]`, so that
//! `sxtb16` of a word gives a channel's weights of two taps; or, for vectors of 16 bytes, `[channel / 16][tap][channel % 16]`. Products,
//! taps and channels behind the last have weights 0.

#[cfg(all(target_arch = "arm", not(target_has_atomic = "32")))]
mod armv6m;
mod blocks;
#[cfg(all(target_arch = "arm", any(feature = "dsp", feature = "thumb2")))]
#[macro_use]
mod loops;
#[cfg(all(target_arch = "arm", feature = "dsp"))]
#[macro_use]
mod dsp;
#[cfg(all(target_arch = "arm", feature = "mve"))]
mod mve;
mod plain;
#[cfg(all(target_arch = "arm", feature = "thumb2", not(feature = "dsp")))]
#[macro_use]
mod thumb2;
// Behind the rows, whose macros they have.
#[cfg(all(target_arch = "arm", any(feature = "dsp", feature = "thumb2")))]
mod groups;
pub mod int16;
pub mod int4;

#[cfg(all(target_arch = "arm", feature = "dsp"))]
use dsp as selected;
#[cfg(not(all(target_arch = "arm", feature = "dsp")))]
use plain as selected;

#[cfg(not(all(target_arch = "arm", any(feature = "mve", all(feature = "thumb2", not(feature = "dsp"))))))]
use blocks as selected_blocks;
#[cfg(all(target_arch = "arm", feature = "mve"))]
use mve as selected_blocks;
#[cfg(all(target_arch = "arm", feature = "thumb2", not(feature = "dsp")))]
use thumb2 as selected_blocks;

#[cfg(all(target_arch = "arm", any(feature = "dsp", feature = "thumb2"), not(feature = "mve")))]
use groups as selected_depthwise;
#[cfg(all(target_arch = "arm", feature = "mve"))]
use mve as selected_depthwise;
#[cfg(not(all(target_arch = "arm", any(feature = "dsp", feature = "thumb2"))))]
use plain as selected_depthwise;

#[cfg(all(target_arch = "arm", not(target_has_atomic = "32")))]
pub(crate) use armv6m::products_of_panels;
pub(crate) use blocks::{Columns, depthwise_group};
#[cfg(all(target_arch = "arm", feature = "mve"))]
pub(crate) use mve::add;
pub(crate) use selected::{IS_DIRECT, doubling_high_product, expand, products, tile_to_int8};
pub(crate) use selected_blocks::{ARE_BLOCKS_DIRECT, block_sums, copy_rows, panels_to_int8};
pub(crate) use selected_depthwise::{IS_DEPTHWISE_DIRECT, depthwise_pixel};

/// Pixels of a tile.
pub const LANES: usize = 4;

/// Channels that share a word of the weights of a convolution in the layout of pairs.
pub const CHANNELS: usize = 2;

/// Channels of a panel of weights in the layout of blocks.
pub const BLOCK_CHANNELS: usize = 4;

/// The most pairs whose sum is below 2^23 for any weights and columns.
pub const MOST_PAIRS: usize = 256;

/// Channels that share a word of an image in a depthwise convolution.
pub const DEPTHWISE_CHANNELS: usize = 4;

/// An instruction set that kernels are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// Any processor.
    Plain,
    /// The DSP extension.
    Dsp,
    /// Helium: vectors of 16 bytes.
    Mve,
    /// Armv7-M, and Armv8-M without the DSP extension.
    Thumb2,
}

/// How the columns and weights of convolutions are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// int16 columns, pair by pair.
    Pairs,
    /// int8 columns, pixel by pixel, and the products of a block of weights.
    Blocks(usize),
}

impl Row {
    /// All rows.
    pub const ALL: [Self; 4] = [Self::Plain, Self::Dsp, Self::Mve, Self::Thumb2];

    /// The row that this build has kernels for; a host reads the layouts of all.
    pub const SELECTED: Self = if cfg!(feature = "mve") {
        Self::Mve
    } else if cfg!(feature = "dsp") {
        Self::Dsp
    } else if cfg!(feature = "thumb2") {
        Self::Thumb2
    } else {
        Self::Plain
    };

    /// The number in blobs.
    pub const fn number(self) -> u32 {
        match self {
            Self::Plain => 0,
            Self::Dsp => 1,
            Self::Mve => 2,
            Self::Thumb2 => 3,
        }
    }

    /// The row with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|row| row.number() == number)
    }

    /// The Cargo feature that compiles the row; `None` for the row of every build.
    pub const fn feature(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Dsp => Some("dsp"),
            Self::Mve => Some("mve"),
            Self::Thumb2 => Some("thumb2"),
        }
    }

    /// Whether this build executes blobs for the row: firmware has the kernels of a row, and a host has portable kernels of all.
    pub const fn is_compiled(self) -> bool {
        cfg!(not(target_os = "none")) || self.number() == Self::SELECTED.number()
    }

    /// The layout of convolutions.
    pub const fn layout(self) -> Layout {
        match self {
            Self::Plain | Self::Dsp => Layout::Pairs,
            Self::Mve => Layout::Blocks(16),
            Self::Thumb2 => Layout::Blocks(1),
        }
    }

    /// Products of a block of int16 columns and their weights ([`int16`]).
    pub const fn int16_block(self) -> usize {
        match self {
            Self::Mve => 8,
            Self::Plain | Self::Dsp | Self::Thumb2 => 2,
        }
    }

    /// Channels of a group in the weights of a depthwise convolution.
    pub const fn depthwise_group(self) -> usize {
        match self {
            Self::Mve => 16,
            Self::Plain | Self::Dsp | Self::Thumb2 => DEPTHWISE_CHANNELS,
        }
    }
}

impl Layout {
    /// The most pixels of a tile.
    pub const fn lanes(self) -> usize {
        match self {
            Self::Pairs => LANES,
            Self::Blocks(_) => 8,
        }
    }

    /// Channels of a panel of weights.
    pub const fn channels(self) -> usize {
        match self {
            Self::Pairs => CHANNELS,
            Self::Blocks(_) => BLOCK_CHANNELS,
        }
    }
}

/// Adds the products of a pixel and the channels of two panels, one behind another in `weights`, to the sums.
#[cfg(not(all(target_arch = "arm", not(target_has_atomic = "32"))))]
pub(crate) fn products_of_panels(tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; 2]) {
    for (sums, weights) in sums.iter_mut().zip(weights.chunks_exact((weights.len() / 2).max(1))) {
        products(tile, weights, core::array::from_mut(sums));
    }
}

/// An element of an image in the layout of pairs.
pub(crate) trait Element: Copy + Default + Into<i16> + Into<i32> {
    /// Writes pairs of elements to `tile`, where pairs are `2 * lanes` elements apart.
    fn expand(tile: &mut [i16], lanes: usize, pairs: &[[Self; 2]]);
}

impl Element for i8 {
    #[inline(always)]
    fn expand(tile: &mut [i16], lanes: usize, pairs: &[[Self; 2]]) {
        expand(tile, lanes, pairs);
    }
}

/// The taps of a depthwise window at a pixel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taps<'m, T = i8> {
    /// The input, from a place on that all offsets begin at.
    pub image: &'m [T],
    /// The offset of each tap's first channel, an even number of taps.
    pub offsets: &'m [u32],
    /// The zero point for each channel, for taps outside of the image.
    pub zeros: &'m [T],
}

impl<T> Taps<'_, T> {
    /// The elements at an offset of a tap, from a channel on.
    pub(crate) fn elements(&self, offset: u32, first: usize) -> &[T] {
        let from = if offset == Self::outside(self.image, self.zeros) {
            self.zeros
        } else {
            self.image.get(offset as usize..).unwrap_or_default()
        };
        from.get(first..).unwrap_or_default()
    }

    /// The offset of the zeros from `image`: on a processor the distance of the addresses, and otherwise a number that no tap has.
    pub(crate) fn outside(image: &[T], zeros: &[T]) -> u32 {
        if IS_DEPTHWISE_DIRECT || IS_ARMV6M {
            (zeros.as_ptr().addr().wrapping_sub(image.as_ptr().addr()) / size_of::<T>()) as u32
        } else {
            u32::MAX
        }
    }
}

/// How sums become int8 in kernels that need no table per channel but [`crate::Channel`]: all factors are below 1/2, and results are
/// clamped to the range of int8 only.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "the row `plain` has no such kernels")]
pub(crate) struct Direct {
    /// The zero point of the result.
    pub zero: i32,
}

/// The rule of sums of two tensors for vectors: no factor shifts to the left.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "the row `mve` has such kernels")]
pub(crate) struct Addition {
    /// The zero points with the fractional bits.
    pub zeros: [i32; 2],
    /// The factors of both operands and of their sum.
    pub multipliers: [i32; 3],
    /// Their powers of two, negative or 0; that of the sum is negative.
    pub shifts: [i32; 3],
    /// All bits set where the operand is divided, 0 otherwise.
    pub signs: [i32; 2],
    /// The zero point and the limits of the results.
    pub zero: i32,
    /// The smallest and the greatest result.
    pub limits: [i32; 2],
}

use plain::IS_ARMV6M;
pub(crate) use plain::depthwise;
