//! GEMM of the columns of a tile and packed weights.

use super::super::{CHANNELS, Direct, LANES, MOST_PAIRS};
use super::panels::Panels;
use crate::Channel;

/// The products of a pair of four pixels and two channels: 12 instructions for 16 products. r0 tile, r1 weights, r2 to r9 sums, pixel
/// by pixel, where the sum of the odd channel is that of the packed weights.
macro_rules! pair {
    () => {
        "ldr r12, [r1], #4
        ldrd r10, r11, [r0], #8
        sxtb16 lr, r12
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

/// All pairs of a panel for one pixel: 14 instructions for 16 products. r0 tile, r1 weights, r2 pairs, r4 and r5 sums, r6 to r9
/// columns, r10 to lr weights.
macro_rules! pixel_pairs {
    () => {
        "b 3f
        2:
        ldm r0!, {{r6-r9}}
        ldm r1!, {{r10-r12, lr}}
        sxtb16 r3, r10
        smlad r4, r6, r3, r4
        smlad r5, r6, r10, r5
        sxtb16 r3, r11
        smlad r4, r7, r3, r4
        smlad r5, r7, r11, r5
        sxtb16 r3, r12
        smlad r4, r8, r3, r4
        smlad r5, r8, r12, r5
        sxtb16 r3, lr
        smlad r4, r9, r3, r4
        smlad r5, r9, lr, r5
        3:
        subs r2, r2, #4
        bpl 2b
        adds r2, r2, #4
        beq 5f
        4:
        ldr r6, [r0], #4
        ldr r10, [r1], #4
        sxtb16 r3, r10
        smlad r4, r6, r3, r4
        smlad r5, r6, r10, r5
        subs r2, r2, #1
        bne 4b
        5:"
    };
}

/// Adds the products of `P` pixels, 1 or [`LANES`], and two channels to the sums.
#[inline]
pub fn products<const P: usize>(tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; P]) {
    let parts = tile.chunks(2 * P * MOST_PAIRS).zip(weights.chunks(2 * CHANNELS * MOST_PAIRS));
    for (tile, weights) in parts {
        let pairs = (weights.len() / (2 * CHANNELS)).min(tile.len() / (2 * P));
        let mut packed = [[0; CHANNELS]; P];
        // SAFETY: both operands have `pairs` pairs for `P` pixels, and `packed` has a sum for each pixel and channel.
        unsafe {
            let (tile, weights, packed) = (tile.as_ptr(), weights.as_ptr(), packed.as_mut_ptr().cast());
            if P == LANES { four_pixels(tile, weights, pairs, packed) } else { one_pixel(tile, weights, pairs, packed) }
        }
        for (sums, [even, both]) in sums.iter_mut().zip(packed) {
            sums[0] = sums[0].wrapping_add(even);
            sums[1] = sums[1].wrapping_add(both.wrapping_sub(even) >> 8);
        }
    }
}

/// The sums of a panel for four pixels: of the even channel and of the packed weights.
///
/// # Safety
/// `tile` has 16 bytes for each pair, aligned to 4, `weights` 4 bytes, and `sums` eight integers.
#[inline(never)]
unsafe fn four_pixels(tile: *const i16, weights: *const i8, pairs: usize, sums: *mut i32) {
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        panel!([tile, weights, pairs, sums], {
            "add r5, r0, r2, lsl #4",
            "lsr r4, r2, #1",
            "add r4, r0, r4, lsl #5",
            "push {{r4, r5}}",
            "movs r2, #0",
            "movs r3, #0",
            "movs r4, #0",
            "movs r5, #0",
            "movs r6, #0",
            "movs r7, #0",
            "mov r8, r2",
            "mov r9, r2",
            all_pairs!(pair!(), concat!(pair!(), pair!()), "0", "4"),
            "ldr r12, [sp, #8]",
            "stm r12, {{r2-r9}}",
            "add sp, sp, #12",
            "pop {{r6, r7}}",
        });
    }
}

/// The sums of a panel for a pixel: of the even channel and of the packed weights.
///
/// # Safety
/// `tile` has 4 bytes for each pair, aligned to 4, `weights` as many, and `sums` two integers.
#[inline(never)]
unsafe fn one_pixel(tile: *const i16, weights: *const i8, pairs: usize, sums: *mut i32) {
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        panel!([tile, weights, pairs, sums], {
            "movs r4, #0",
            "movs r5, #0",
            pixel_pairs!(),
            "pop {{r3, r6, r7}}",
            "strd r4, r5, [r3]",
        });
    }
}

/// Computes all channels, an even number, of a tile of `P` pixels, 1 or [`LANES`]. Sums are below 2^23.
pub fn tile_to_int8<const P: usize>(
    operands: (&[i16], &[i8]),
    channels: &[Channel],
    direct: Direct,
    output: &mut [i8],
) {
    let rounding = 2 * direct.zero + 1;
    let panels = Panels::of::<P>(operands, channels, output, rounding.cast_unsigned());
    let Some(mut panels) = panels else { return };
    // SAFETY: the operands have the lengths that the loops need, as `Panels::of` checks.
    unsafe { if P == LANES { all_panels(&raw mut panels) } else { pixel_panels(&raw mut panels) } }
}

/// The loop over panels of two channels, for one pixel.
///
/// # Safety
/// The pointers are those of operands for all pairs and channels.
#[inline(never)]
unsafe fn pixel_panels(panels: *mut Panels<Channel, i8>) {
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        counted_loop!(panels, "36", "{{r1-r5, r8-r11}}", "28", {
            "ldr r10, [sp, #16]",
            "ldrd r1, r0, [sp]",
            "ldr r2, [sp, #12]",
            "sub r2, r2, r0",
            "lsr r2, r2, #2",
            "ldr r4, [r10]",
            "ldr r5, [r10, #12]",
            "add r5, r4, r5, lsl #8",
            pixel_pairs!(),
            "sub r5, r5, r4",
            "ldrd r6, r7, [sp, #16]",
            "ldr lr, [sp, #32]",
            "ldrd r11, r12, [r6, #4]",
            "mvn r12, r12",
            requantize!("lsl", "1", "r4"),
            "ldrd r11, r12, [r6, #16]",
            "mvn r12, r12",
            requantize!("asr", "7", "r5"),
            "strb r5, [r7, #1]",
            "strb r4, [r7], #2",
            "add r6, r6, #24",
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
unsafe fn all_panels(panels: *mut Panels<Channel, i8>) {
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        counted_loop!(panels, "36", "{{r1-r5, r8-r11}}", "28", {
            "ldr r10, [sp, #16]",
            "ldrd r1, r0, [sp]",
            "ldr r2, [r10]",
            "ldr r3, [r10, #12]",
            // The odd sum begins with `256 * odd + even`.
            "add r3, r2, r3, lsl #8",
            begin_pixels!(),
            all_pairs!(pair!(), concat!(pair!(), pair!(), pair!(), pair!(), pair!(), pair!(), pair!(), pair!()), "8", "12"),
            // The doubled odd sum is a 128th of the difference.
            "sub r3, r3, r2",
            "sub r5, r5, r4",
            "sub r7, r7, r6",
            "sub r9, r9, r8",
            "ldr r10, [sp, #16]",
            "ldrd r11, r12, [r10, #4]",
            "ldr lr, [sp, #32]",
            "mvn r12, r12",
            requantize!("lsl", "1", "r2"),
            requantize!("lsl", "1", "r4"),
            requantize!("lsl", "1", "r6"),
            requantize!("lsl", "1", "r8"),
            "ldrd r11, r12, [r10, #16]",
            "mvn r12, r12",
            requantize!("asr", "7", "r3"),
            requantize!("asr", "7", "r5"),
            requantize!("asr", "7", "r7"),
            requantize!("asr", "7", "r9"),
            "ldrd r0, r11, [sp, #20]",
            "add r12, r0, #2",
            store_bytes!(),
            "add r10, r10, #24",
            "str r1, [sp]",
            "strd r10, r12, [sp, #16]",
        });
    }
}
