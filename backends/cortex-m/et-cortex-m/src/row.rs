//! The inner loops, in a row per instruction set, and the layouts that they read.
//!
//! The columns of a tile of pixels are int16: `[pair][pixel][2]`, where a pair is two neighbouring products of a sum.
//!
//! The weights of a convolution are `[channel / 2][pair][2]` int16, each the weights of two channels for a product: `256 * odd +
//! even`. With columns `x`, the sum of `x * (256 * odd + even)` less the sum of `x * even` is 256 times the sum of the odd channel,
//! so that a single `sxtb16` for each pair suffices. Sums of up to [`MOST_PAIRS`] pairs are exact in this form.
//!
//! The weights of a depthwise convolution are int8: `[channel / 4][tap / 2][channel / 2 % 2][tap % 2][channel % 2]`, so that
//! `sxtb16` of a word gives a channel's weights of two taps. Products, taps and channels behind the last have weights 0.

#[cfg(all(target_arch = "arm", not(target_has_atomic = "32")))]
mod armv6m;
#[cfg(all(target_arch = "arm", feature = "dsp"))]
mod dsp;
mod plain;

#[cfg(all(target_arch = "arm", feature = "dsp"))]
use dsp as selected;
#[cfg(not(all(target_arch = "arm", feature = "dsp")))]
use plain as selected;

pub(crate) use selected::{IS_DIRECT, depthwise_pixel, doubling_high_product, expand, products, tile_to_int8};

/// Pixels of a tile.
pub const LANES: usize = 4;

/// Channels that share a word of the weights of a convolution.
pub const CHANNELS: usize = 2;

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
}

impl Row {
    /// All rows.
    pub const ALL: [Self; 2] = [Self::Plain, Self::Dsp];

    /// The number in blobs.
    pub const fn number(self) -> u32 {
        match self {
            Self::Plain => 0,
            Self::Dsp => 1,
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
        }
    }

    /// Whether this build executes blobs for the row. Both rows read the same layouts, and the plain row executes a blob for the
    /// other on a host.
    pub const fn is_compiled(self) -> bool {
        match self {
            Self::Plain => true,
            Self::Dsp => cfg!(any(feature = "dsp", not(target_os = "none"))),
        }
    }
}

/// The taps of a depthwise window at a pixel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taps<'m> {
    /// The input, from a place on that all offsets begin at.
    pub image: &'m [i8],
    /// The offset of each tap's first channel, an even number of taps.
    pub offsets: &'m [u32],
    /// The zero point for each channel, for taps outside of the image.
    pub zeros: &'m [i8],
}

impl Taps<'_> {
    /// The offset of the zeros from `image`: on a processor the distance of the addresses, and otherwise a number that no tap has.
    pub(crate) fn outside(image: &[i8], zeros: &[i8]) -> u32 {
        if IS_DIRECT || IS_ARMV6M { zeros.as_ptr().addr().wrapping_sub(image.as_ptr().addr()) as u32 } else { u32::MAX }
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

use plain::IS_ARMV6M;
pub(crate) use plain::depthwise;
