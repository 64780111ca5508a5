//! The DSP extension: two products in an instruction.
#![allow(unsafe_code, reason = "inline assembly; the lengths are checked before the loops")]

use core::arch::asm;

use super::plain;
use crate::row::{CHANNELS, DEPTHWISE_CHANNELS, LANES, Taps};

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

/// The products of two taps and two channels, whose elements lie at `$at` behind r8 and r9: r1 weights.
macro_rules! two_taps {
    ($at:literal, $even:literal, $odd:literal) => {
        concat!(
            "ldr r10, [r8, #",
            $at,
            "]\n ldr r11, [r9, #",
            $at,
            "]\n ldr r12, [r1], #4\n pkhbt lr, r10, r11, lsl #16\n pkhtb r10, r11, r10, asr #16\n",
            "sxtb16 r11, r12\n smlad ",
            $even,
            ", lr, r11, ",
            $even,
            "\n sxtb16 r11, r12, ror #8\n smlad ",
            $odd,
            ", r10, r11, ",
            $odd,
            "\n"
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
    // The compiler reserves r6 and r7, which are saved here. The stack has the end of groups of four pairs, and of all.
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        asm!(
            "push {{r3, r6, r7}}",
            "add r5, r0, r2, lsl #4",
            "lsr r4, r2, #2",
            "add r4, r0, r4, lsl #6",
            "push {{r4, r5}}",
            "ldm r3, {{r2-r9}}",
            "ldr r12, [sp]",
            "cmp r0, r12",
            "beq 3f",
            "2:",
            pair!(),
            pair!(),
            pair!(),
            pair!(),
            "ldr r12, [sp]",
            "cmp r0, r12",
            "bne 2b",
            "3:",
            "ldr r12, [sp, #4]",
            "cmp r0, r12",
            "beq 5f",
            "4:",
            pair!(),
            "ldr r12, [sp, #4]",
            "cmp r0, r12",
            "bne 4b",
            "5:",
            "ldr r12, [sp, #8]",
            "stm r12, {{r2-r9}}",
            "add sp, sp, #12",
            "pop {{r6, r7}}",
            inout("r0") tile => _, inout("r1") weights => _, inout("r2") pairs => _, inout("r3") sums => _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        );
    }
}

/// Adds the products of a panel for a pixel: 20 instructions for 16 products.
///
/// # Safety
/// `tile` has 4 bytes for each pair, aligned to 4, `weights` as many, and `sums` two integers.
#[inline(never)]
unsafe fn one_pixel(tile: *const i16, weights: *const i8, pairs: usize, sums: *mut i32) {
    // The compiler reserves r6 and r7, which are saved here.
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        asm!(
            "push {{r3, r6, r7}}",
            "ldrd r4, r5, [r3]",
            "b 3f",
            "2:",
            "ldm r0!, {{r6-r9}}",
            "ldm r1!, {{r10-r12, lr}}",
            pixel_pair!("r6", "r10"),
            pixel_pair!("r7", "r11"),
            pixel_pair!("r8", "r12"),
            pixel_pair!("r9", "lr"),
            "3:",
            "subs r2, r2, #4",
            "bpl 2b",
            "adds r2, r2, #4",
            "beq 5f",
            "4:",
            "ldr r6, [r0], #4",
            "ldr r10, [r1], #4",
            pixel_pair!("r6", "r10"),
            "subs r2, r2, #1",
            "bne 4b",
            "5:",
            "pop {{r3, r6, r7}}",
            "strd r4, r5, [r3]",
            inout("r0") tile => _, inout("r1") weights => _, inout("r2") pairs => _, inout("r3") sums => _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        );
    }
}

/// Adds the products of four channels from `first` on to the sums: 23 instructions for 8 products.
pub fn depthwise(taps: &Taps<'_, i16>, first: usize, weights: &[i8], sums: &mut [i32; DEPTHWISE_CHANNELS]) {
    let pairs = (taps.offsets.len() / 2).min(weights.len() / (2 * DEPTHWISE_CHANNELS));
    if pairs == 0 || taps.zeros.len() < first + DEPTHWISE_CHANNELS {
        return plain::depthwise(taps, first, weights, sums);
    }
    let offsets = taps.offsets.as_ptr();
    // SAFETY: each tap has all channels, in the image or in the zeros; there are `pairs` pairs of offsets and weights.
    unsafe {
        let image = taps.image.as_ptr().wrapping_add(first);
        four_channels(image, weights.as_ptr(), [offsets, offsets.wrapping_add(2 * pairs)], sums);
    }
}

/// Adds the products of four channels.
///
/// # Safety
/// All offsets are those of four elements behind `image`, and `weights` has 8 bytes for each pair of offsets.
#[inline(never)]
unsafe fn four_channels(
    image: *const i16,
    weights: *const i8,
    [offsets, end]: [*const u32; 2],
    sums: &mut [i32; DEPTHWISE_CHANNELS],
) {
    // The compiler reserves r6 and r7, which are saved here.
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        asm!(
            "push {{r4, r6, r7}}",
            "mov r6, r2",
            "mov r7, r3",
            "ldm r4, {{r2-r5}}",
            "2:",
            "ldrd r8, r9, [r6], #8",
            "add r8, r0, r8, lsl #1",
            "add r9, r0, r9, lsl #1",
            two_taps!("0", "r2", "r3"),
            two_taps!("4", "r4", "r5"),
            "cmp r6, r7",
            "bne 2b",
            "pop {{r0, r6, r7}}",
            "stm r0, {{r2-r5}}",
            inout("r0") image => _, inout("r1") weights => _, inout("r2") offsets => _, inout("r3") end => _,
            inout("r4") sums.as_mut_ptr() => _,
            out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        );
    }
}
