//! The DSP extension: two products in an instruction.
#![allow(unsafe_code, reason = "inline assembly; the lengths are checked before the loops")]

/// The results of two channels with int16 sums, packed in `$even`: 7 instructions. r11 and r12 factors, lr the smallest result twice.
macro_rules! requantize {
    ($even:literal, $odd:literal) => {
        concat!(
            "smmulr ",
            $even,
            ", ",
            $even,
            ", r11\n smmulr ",
            $odd,
            ", ",
            $odd,
            ", r12\n ssat ",
            $even,
            ", #16, ",
            $even,
            "\n ssat ",
            $odd,
            ", #16, ",
            $odd,
            "\n pkhbt ",
            $even,
            ", ",
            $even,
            ", ",
            $odd,
            ", lsl #16\n",
            // The comparison of both halves selects.
            "ssub16 ",
            $odd,
            ", ",
            $even,
            ", lr\n sel ",
            $even,
            ", ",
            $even,
            ", lr\n"
        )
    };
}

mod depthwise;
mod gemm;

pub use depthwise::{depthwise, pixel_to_int16};
pub use gemm::{products, tile_to_int16};

use super::Layer;

/// Whether the loops over channels compute the results of a layer, for a multiple of so many channels.
fn is_direct(layer: &Layer<'_>, channels: usize) -> bool {
    layer.narrow && layer.limits.most == 32_767 && layer.channels.len().is_multiple_of(channels)
}

/// The smallest result in both halves of a word.
fn least_twice(layer: &Layer<'_>) -> u32 {
    let least = layer.limits.least as u32 & 0xffff;
    least << 16 | least
}
