//! The DSP extension: GEMM of the columns of a tile and int4 weights, which a mask gives times 16.
#![allow(unsafe_code, reason = "inline assembly; the lengths are checked before the loops")]

use crate::Channel;
use crate::row::{CHANNELS, Direct, LANES};

/// The products of a pair of four pixels and two channels, whose weights times 16 are in r12: 12 instructions for 16 products. r0 tile,
/// r2 to r9 sums, pixel by pixel.
macro_rules! pair {
    () => {
        "sxtb16 lr, r12
        sxtb16 r12, r12, ror #8
        ldrd r10, r11, [r0], #8
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

/// Two pairs: 29 instructions for 32 products. r1 weights, which no register is free to keep.
macro_rules! two_pairs {
    () => {
        concat!(
            "ldr r12, [r1]\n and r12, r12, #0xf0f0f0f0\n",
            pair!(),
            "ldr r12, [r1], #4\n lsl r12, r12, #4\n and r12, r12, #0xf0f0f0f0\n",
            pair!()
        )
    };
}

/// All pairs of a panel: groups of eight, `$group` of two, then a single pair. The stack has the ends of the groups of eight, of the groups
/// of two, and of all pairs.
macro_rules! pairs {
    ($eight:literal, $two:literal, $end:literal) => {
        concat!(
            "ldr r12, [sp, #",
            $eight,
            "]\n cmp r0, r12\n beq 3f\n 2:\n",
            two_pairs!(),
            two_pairs!(),
            two_pairs!(),
            two_pairs!(),
            "ldr r12, [sp, #",
            $eight,
            "]\n cmp r0, r12\n bne 2b\n 3:\n ldr r12, [sp, #",
            $two,
            "]\n cmp r0, r12\n beq 5f\n 4:\n",
            two_pairs!(),
            "ldr r12, [sp, #",
            $two,
            "]\n cmp r0, r12\n bne 4b\n 5:\n ldr r12, [sp, #",
            $end,
            "]\n cmp r0, r12\n beq 6f\n ldr r12, [r1], #4\n and r12, r12, #0xf0f0f0f0\n",
            pair!(),
            "6:\n"
        )
    };
}

/// The products of a pair of one pixel, r6, and two channels, whose weights times 16 are in r11: r4 and r5 sums.
macro_rules! pixel_pair {
    ($column:literal) => {
        concat!(
            "sxtb16 r3, r11\n smlad r4, ",
            $column,
            ", r3, r4\n sxtb16 r3, r11, ror #8\n smlad r5, ",
            $column,
            ", r3, r5\n"
        )
    };
}

/// Two pairs of one pixel: 14 instructions for 8 products.
macro_rules! two_pixel_pairs {
    ($first:literal, $second:literal) => {
        concat!(
            "ldr r10, [r1], #4\n and r11, r10, #0xf0f0f0f0\n",
            pixel_pair!($first),
            "lsl r10, r10, #4\n and r11, r10, #0xf0f0f0f0\n",
            pixel_pair!($second)
        )
    };
}

/// All pairs of a panel for one pixel. r0 tile, r1 weights, r2 pairs, r4 and r5 sums.
macro_rules! pixel_pairs {
    () => {
        concat!(
            "b 3f\n 2:\n ldm r0!, {{r6-r9}}\n",
            two_pixel_pairs!("r6", "r7"),
            two_pixel_pairs!("r8", "r9"),
            "3:\n subs r2, r2, #4\n bpl 2b\n adds r2, r2, #2\n bmi 4f\n ldm r0!, {{r6, r7}}\n",
            two_pixel_pairs!("r6", "r7"),
            "subs r2, r2, #2\n 4:\n adds r2, r2, #2\n beq 5f\n ldr r6, [r0], #4\n ldr r10, [r1], #4\n",
            "and r11, r10, #0xf0f0f0f0\n",
            pixel_pair!("r6"),
            "5:\n"
        )
    };
}

/// Adds the products of `P` pixels, 1 or [`LANES`], and two channels to the sums.
#[inline]
pub fn products<const P: usize>(tile: &[i16], weights: &[u8], sums: &mut [[i32; CHANNELS]; P]) {
    let pairs = (weights.len() / CHANNELS).min(tile.len() / (2 * P));
    let mut sixteenfold = [[0; CHANNELS]; P];
    // SAFETY: both operands have `pairs` pairs for `P` pixels, and there is a sum for each pixel and channel.
    unsafe {
        let (tile, weights, sums) = (tile.as_ptr(), weights.as_ptr(), sixteenfold.as_mut_ptr().cast());
        if P == LANES { four_pixels(tile, weights, pairs, sums) } else { one_pixel(tile, weights, pairs, sums) }
    }
    for (sum, sixteenfold) in sums.as_flattened_mut().iter_mut().zip(sixteenfold.as_flattened()) {
        *sum = sum.wrapping_add(sixteenfold >> 4);
    }
}

/// The products of a panel for four pixels, times 16.
///
/// # Safety
/// `tile` has 16 bytes for each pair, aligned to 4, `weights` 4 bytes for two, and `sums` eight integers.
#[inline(never)]
unsafe fn four_pixels(tile: *const i16, weights: *const u8, pairs: usize, sums: *mut i32) {
    // The stack has the ends of the groups, and of all.
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        panel!([tile, weights, pairs, sums], {
            "add r6, r0, r2, lsl #4",
            "lsr r5, r2, #1",
            "add r5, r0, r5, lsl #5",
            "lsr r4, r2, #3",
            "add r4, r0, r4, lsl #7",
            "push {{r4, r5, r6}}",
            "ldm r3, {{r2-r9}}",
            pairs!("0", "4", "8"),
            "ldr r12, [sp, #12]",
            "stm r12, {{r2-r9}}",
            "add sp, sp, #16",
            "pop {{r6, r7}}",
        });
    }
}

/// The products of a panel for a pixel, times 16.
///
/// # Safety
/// `tile` has 4 bytes for each pair, aligned to 4, `weights` 4 for two, and `sums` two integers.
#[inline(never)]
unsafe fn one_pixel(tile: *const i16, weights: *const u8, pairs: usize, sums: *mut i32) {
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

/// What the loop over panels reads, and changes, in memory.
#[repr(C)]
struct Panels {
    weights: *const u8,
    tile: *const i16,
    /// The end of the groups of eight pairs.
    groups_end: *const i16,
    /// The end of the groups of two.
    twos_end: *const i16,
    end: *const i16,
    channels: *const Channel,
    output: *mut i8,
    /// Channels, the bytes between pixels.
    stride: usize,
    panels: usize,
    /// `2 * zero + 1`.
    rounding: i32,
}

/// Computes all channels, an even number, of a tile of `P` pixels, 1 or [`LANES`]. Sums are below 2^23.
pub fn tile_to_int8<const P: usize>(
    (tile, weights): (&[i16], &[u8]),
    channels: &[Channel],
    direct: Direct,
    output: &mut [i8],
) {
    let (pairs, panels) = (tile.len() / (2 * P), channels.len() / CHANNELS);
    let fits = weights.len() >= 2 * CHANNELS * pairs.div_ceil(2) * panels && output.len() >= P * channels.len();
    if pairs == 0 || panels == 0 || !fits {
        return;
    }
    let mut panels = Panels {
        weights: weights.as_ptr(),
        tile: tile.as_ptr(),
        groups_end: tile.as_ptr().wrapping_add(pairs / 8 * 8 * 2 * P),
        twos_end: tile.as_ptr().wrapping_add(pairs / 2 * 2 * 2 * P),
        end: tile.as_ptr().wrapping_add(pairs * 2 * P),
        channels: channels.as_ptr(),
        output: output.as_mut_ptr(),
        stride: channels.len(),
        panels,
        rounding: 2 * direct.zero + 1,
    };
    // SAFETY: the operands have the lengths that the loops need, as checked above.
    unsafe { if P == LANES { all_panels(&raw mut panels) } else { pixel_panels(&raw mut panels) } }
}

/// The loop over panels of two channels, for one pixel.
///
/// # Safety
/// The pointers are those of operands for all pairs and channels.
#[inline(never)]
unsafe fn pixel_panels(panels: *mut Panels) {
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        counted_loop!(panels, "40", "{{r1-r5, r8-r12}}", "32", {
            "ldr r10, [sp, #20]",
            "ldrd r1, r0, [sp]",
            "ldr r2, [sp, #16]",
            "sub r2, r2, r0",
            "lsr r2, r2, #2",
            "ldr r4, [r10]",
            "ldr r5, [r10, #12]",
            "lsl r4, r4, #4",
            "lsl r5, r5, #4",
            pixel_pairs!(),
            "ldrd r6, r7, [sp, #20]",
            "ldr lr, [sp, #36]",
            "ldrd r11, r12, [r6, #4]",
            "mvn r12, r12",
            requantize!("asr", "3", "r4"),
            "ldrd r11, r12, [r6, #16]",
            "mvn r12, r12",
            requantize!("asr", "3", "r5"),
            "strb r5, [r7, #1]",
            "strb r4, [r7], #2",
            "add r6, r6, #24",
            "str r1, [sp]",
            "strd r6, r7, [sp, #20]",
        });
    }
}

/// The loop over panels of two channels, for four pixels.
///
/// # Safety
/// The pointers are those of operands for all pairs, channels and four pixels.
#[inline(never)]
unsafe fn all_panels(panels: *mut Panels) {
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        counted_loop!(panels, "40", "{{r1-r5, r8-r12}}", "32", {
            "ldr r10, [sp, #20]",
            "ldrd r1, r0, [sp]",
            "ldr r2, [r10]",
            "ldr r3, [r10, #12]",
            "lsl r2, r2, #4",
            "lsl r3, r3, #4",
            begin_pixels!(),
            pairs!("8", "12", "16"),
            // The doubled sum is an eighth.
            "ldr r10, [sp, #20]",
            "ldrd r11, r12, [r10, #4]",
            "ldr lr, [sp, #36]",
            "mvn r12, r12",
            requantize!("asr", "3", "r2"),
            requantize!("asr", "3", "r4"),
            requantize!("asr", "3", "r6"),
            requantize!("asr", "3", "r8"),
            "ldrd r11, r12, [r10, #16]",
            "mvn r12, r12",
            requantize!("asr", "3", "r3"),
            requantize!("asr", "3", "r5"),
            requantize!("asr", "3", "r7"),
            requantize!("asr", "3", "r9"),
            "ldrd r0, r11, [sp, #24]",
            "add r12, r0, #2",
            store_bytes!(),
            "add r10, r10, #24",
            "str r1, [sp]",
            "strd r10, r12, [sp, #20]",
        });
    }
}
