//! Armv7-M, and Armv8-M without the DSP extension: a product in an instruction, with the sums of eight results in registers.
#![allow(unsafe_code, reason = "inline assembly; the lengths are checked before the loops")]

/// A sum as int8: 7 instructions, after TensorFlow Lite's rule for a factor below 1/2. r11 multiplier, r12 the right shift less 1, lr
/// `2 * zero + 1`, r10 scratch.
macro_rules! requantize {
    ($shift:literal, $by:literal, $sum:literal) => {
        concat!(
            $shift,
            " ",
            $sum,
            ", ",
            $sum,
            ", #",
            $by,
            "\n",
            "smull r10, ",
            $sum,
            ", ",
            $sum,
            ", r11\n",
            "add ",
            $sum,
            ", ",
            $sum,
            ", r10, lsr #31\n",
            // Halves of negative numbers go down.
            "add ",
            $sum,
            ", ",
            $sum,
            ", ",
            $sum,
            ", asr #31\n",
            "asr ",
            $sum,
            ", ",
            $sum,
            ", r12\n",
            "add ",
            $sum,
            ", ",
            $sum,
            ", lr\n",
            "ssat ",
            $sum,
            ", #8, ",
            $sum,
            ", asr #1\n",
        )
    };
}

/// The product of a tap and a channel: r8 the tap of the image, r1 weights.
macro_rules! tap {
    ($element:literal, $weight:literal, $sum:literal) => {
        concat!("ldrsb r10, ", $element, "\n ldrsb r11, [r1, #", $weight, "]\n mla ", $sum, ", r10, r11, ", $sum, "\n",)
    };
}

/// The products of two taps and four channels: 28 instructions for 8 products. r0 image, r1 weights, r2 to r5 sums, r6 offsets.
macro_rules! two_taps {
    () => {
        concat!(
            "ldrd r8, r9, [r6], #8\n add r8, r8, r0\n add r9, r9, r0\n",
            tap!("[r8]", "0", "r2"),
            tap!("[r8, #1]", "1", "r3"),
            tap!("[r9]", "2", "r2"),
            tap!("[r9, #1]", "3", "r3"),
            tap!("[r8, #2]", "4", "r4"),
            tap!("[r8, #3]", "5", "r5"),
            tap!("[r9, #2]", "6", "r4"),
            tap!("[r9, #3]", "7", "r5"),
            "add r1, r1, #8\n",
        )
    };
}

mod gemm;

pub use gemm::{block_sums, panels_to_int8};

pub use super::blocks::copy_rows;

/// Whether [`panels_to_int8`] exists in this row.
pub const ARE_BLOCKS_DIRECT: bool = true;
