//! GEMM of the columns of a tile and packed weights.

use super::super::Layer;
use super::{is_direct, least_twice};
use crate::Channel16;
use crate::row::dsp::panels::Panels;
use crate::row::{CHANNELS, LANES};

/// The products of a pair of four pixels and two channels: 13 instructions for 16 products. r0 tile, r1 weights, r2 to r9 sums, pixel by
/// pixel.
macro_rules! pair {
    () => {
        "ldr r12, [r1], #4
        ldrd r10, r11, [r0], #8
        sxtb16 lr, r12
        sxtb16 r12, r12, ror #8
        smlad r2, r10, lr, r2
        smlad r3, r10, r12, r3
        smlad r4, r11, lr, r4
        smlad r5, r11, r12, r5
        ldrd r10, r11, [r0], #8
        smlad r6, r10, lr, r6
        smlad r7, r10, r12, r7
        smlad r8, r11, lr, r8
        smlad r9, r11, r12, r9
        "
    };
}

/// The products of a pair of one pixel and two channels: r6 columns, r10 weights, r4 and r5 sums.
macro_rules! pixel_pair {
    ($column:literal, $weights:literal) => {
        concat!(
            "sxtb16 r3, ",
            $weights,
            "\n smlad r4, ",
            $column,
            ", r3, r4\n sxtb16 r3, ",
            $weights,
            ", ror #8\n smlad r5, ",
            $column,
            ", r3, r5\n"
        )
    };
}

/// All pairs of a panel for one pixel: 20 instructions for 16 products. r0 tile, r1 weights, r2 pairs, r4 and r5 sums.
macro_rules! pixel_pairs {
    () => {
        concat!(
            "b 3f\n 2:\n ldm r0!, {{r6-r9}}\n ldm r1!, {{r10-r12, lr}}\n",
            pixel_pair!("r6", "r10"),
            pixel_pair!("r7", "r11"),
            pixel_pair!("r8", "r12"),
            pixel_pair!("r9", "lr"),
            "3:\n subs r2, r2, #4\n bpl 2b\n adds r2, r2, #4\n beq 5f\n 4:\n ldr r6, [r0], #4\n ldr r10, [r1], #4\n",
            pixel_pair!("r6", "r10"),
            "subs r2, r2, #1\n bne 4b\n 5:\n"
        )
    };
}

/// Adds the products of `P` pixels, 1 or [`LANES`], and two channels to the sums.
#[inline]
pub fn products<const P: usize>(tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; P]) {
    let pairs = (weights.len() / (2 * CHANNELS)).min(tile.len() / (2 * P));
    // SAFETY: both operands have `pairs` pairs for `P` pixels, and `sums` has a sum for each pixel and channel.
    unsafe {
        let (tile, weights, sums) = (tile.as_ptr(), weights.as_ptr(), sums.as_mut_ptr().cast());
        if P == LANES { four_pixels(tile, weights, pairs, sums) } else { one_pixel(tile, weights, pairs, sums) }
    }
}

/// Adds the products of a panel for four pixels.
///
/// # Safety
/// `tile` has 16 bytes for each pair, aligned to 4, `weights` 4 bytes, and `sums` eight integers.
#[inline(never)]
unsafe fn four_pixels(tile: *const i16, weights: *const i8, pairs: usize, sums: *mut i32) {
    // The stack has the end of groups of two pairs, and of all.
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        panel!([tile, weights, pairs, sums], {
            "add r5, r0, r2, lsl #4",
            "lsr r4, r2, #1",
            "add r4, r0, r4, lsl #5",
            "push {{r4, r5}}",
            "ldm r3, {{r2-r9}}",
            all_pairs!(pair!(), concat!(pair!(), pair!()), "0", "4"),
            "ldr r12, [sp, #8]",
            "stm r12, {{r2-r9}}",
            "add sp, sp, #12",
            "pop {{r6, r7}}",
        });
    }
}

/// Adds the products of a panel for a pixel.
///
/// # Safety
/// `tile` has 4 bytes for each pair, aligned to 4, `weights` as many, and `sums` two integers.
#[inline(never)]
unsafe fn one_pixel(tile: *const i16, weights: *const i8, pairs: usize, sums: *mut i32) {
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        panel!([tile, weights, pairs, sums], {
            "ldrd r4, r5, [r3]",
            pixel_pairs!(),
            "pop {{r3, r6, r7}}",
            "strd r4, r5, [r3]",
        });
    }
}

/// Computes all channels of a tile of `P` pixels, 1 or [`LANES`]; `false`, and nothing, for a layer without this way.
pub fn tile_to_int16<const P: usize>(tile: &[i16], layer: &Layer<'_>, output: &mut [i16]) -> bool {
    if !is_direct(layer, CHANNELS) {
        return false;
    }
    let panels = Panels::of::<P>((tile, layer.weights), layer.channels, output, least_twice(layer));
    let Some(mut panels) = panels else { return false };
    // SAFETY: the operands have the lengths that the loops need, as `Panels::of` checks.
    unsafe { if P == LANES { all_panels(&raw mut panels) } else { pixel_panels(&raw mut panels) } }
    true
}

/// The loop over panels of two channels, for one pixel.
///
/// # Safety
/// The pointers are those of operands for all pairs and channels.
#[inline(never)]
unsafe fn pixel_panels(panels: *mut Panels<Channel16, i16>) {
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        counted_loop!(panels, "36", "{{r1-r5, r8-r11}}", "28", {
            "ldr r10, [sp, #16]",
            "ldrd r1, r0, [sp]",
            "ldr r2, [sp, #12]",
            "sub r2, r2, r0",
            "lsr r2, r2, #2",
            "ldr r4, [r10]",
            "ldr r5, [r10, #16]",
            pixel_pairs!(),
            "ldrd r6, r7, [sp, #16]",
            "ldr lr, [sp, #32]",
            "ldr r11, [r6, #8]",
            "ldr r12, [r6, #24]",
            requantize!("r4", "r5"),
            "str r4, [r7], #4",
            "add r6, r6, #32",
            "str r1, [sp]",
            "strd r6, r7, [sp, #16]",
        });
    }
}

/// The loop over panels of two channels, for four pixels.
///
/// # Safety
/// The pointers are those of operands for all pairs, channels and four pixels.
#[inline(never)]
unsafe fn all_panels(panels: *mut Panels<Channel16, i16>) {
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        counted_loop!(panels, "36", "{{r1-r5, r8-r11}}", "28", {
            "ldr r10, [sp, #16]",
            "ldrd r1, r0, [sp]",
            "ldr r2, [r10]",
            "ldr r3, [r10, #16]",
            begin_pixels!(),
            all_pairs!(pair!(), concat!(pair!(), pair!(), pair!(), pair!(), pair!(), pair!(), pair!(), pair!()), "8", "12"),
            "ldr r10, [sp, #16]",
            "ldr r11, [r10, #8]",
            "ldr r12, [r10, #24]",
            "ldr lr, [sp, #32]",
            requantize!("r2", "r3"),
            requantize!("r4", "r5"),
            requantize!("r6", "r7"),
            requantize!("r8", "r9"),
            "ldrd r0, r11, [sp, #20]",
            "add r12, r0, #4",
            "str r2, [r0]",
            "str r4, [r0, r11]",
            "str r6, [r0, r11, lsl #1]",
            "add r0, r0, r11",
            "str r8, [r0, r11, lsl #1]",
            "add r10, r10, #32",
            "str r1, [sp]",
            "strd r10, r12, [sp, #16]",
        });
    }
}
