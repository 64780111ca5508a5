//! Armv6-M: sums are in the high registers, which only additions and moves reach.
#![allow(unsafe_code, reason = "inline assembly; the lengths are checked before the loops")]

mod panels;

use core::arch::asm;

pub use panels::products_of_panels;

use super::{CHANNELS, DEPTHWISE_CHANNELS, LANES, MOST_PAIRS, Taps};

/// A product of a pixel and both channels: 7 instructions for 2 products. r4 even weight, r5 weights of both channels.
macro_rules! pixel {
    ($widen:literal, $at:literal, $even:literal, $both:literal) => {
        concat!(
            "ldr r2, [r0, #",
            $at,
            "]\n",
            $widen,
            "\n movs r3, r2\n muls r3, r4, r3\n add ",
            $even,
            ", r3\n",
            "muls r2, r5, r2\n add ",
            $both,
            ", r2\n"
        )
    };
}

/// A product of four pixels and both channels, of the pair's lower or upper halves of words.
macro_rules! product {
    ($widen_weights:literal, $widen:literal) => {
        concat!(
            "ldr r5, [r1]\n",
            $widen_weights,
            "\n sxtb r4, r5\n",
            pixel!($widen, "0", "r6", "r7"),
            pixel!($widen, "4", "r8", "r9"),
            pixel!($widen, "8", "r10", "r11"),
            pixel!($widen, "12", "r12", "lr")
        )
    };
}

/// A pair of products of one pixel and both channels: 16 instructions for 4 products. r6 sum of the even channel, r7 of both.
macro_rules! single {
    () => {
        "ldm r0!, {{r2}}
        ldm r1!, {{r5}}
        sxth r3, r2
        sxtb r4, r5
        muls r4, r3, r4
        adds r6, r6, r4
        sxth r4, r5
        muls r4, r3, r4
        adds r7, r7, r4
        asrs r2, r2, #16
        asrs r5, r5, #16
        sxtb r4, r5
        muls r4, r2, r4
        adds r6, r6, r4
        muls r5, r2, r5
        adds r7, r7, r5
        "
    };
}

/// Adds the products of `P` pixels, 1 or [`LANES`], and two channels to the sums.
pub fn products<const P: usize>(tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; P]) {
    let parts = tile.chunks(2 * P * MOST_PAIRS).zip(weights.chunks(2 * CHANNELS * MOST_PAIRS));
    for (tile, weights) in parts {
        let pairs = (weights.len() / (2 * CHANNELS)).min(tile.len() / (2 * P));
        let mut packed = [[0; CHANNELS]; P];
        if pairs > 0 {
            let (tile, weights, packed) = (tile.as_ptr(), weights.as_ptr(), packed.as_mut_ptr().cast());
            // SAFETY: both operands have `pairs` pairs for `P` pixels, and `packed` has a sum for each pixel and channel.
            unsafe {
                if P == LANES {
                    four_pixels(tile, weights, pairs, packed);
                } else {
                    one_pixel(tile, weights, pairs, packed);
                }
            }
        }
        for (sums, [even, both]) in sums.iter_mut().zip(packed) {
            sums[0] = sums[0].wrapping_add(even);
            sums[1] = sums[1].wrapping_add(both.wrapping_sub(even) >> 8);
        }
    }
}

/// The sums of a panel for four pixels: of the even channel and of the packed weights. 67 instructions for 16 products.
///
/// # Safety
/// `tile` has 16 bytes for each pair, of which there is one, aligned to 4, `weights` 4 bytes, and `sums` eight integers.
#[inline(never)]
unsafe fn four_pixels(tile: *const i16, weights: *const i8, pairs: usize, sums: *mut i32) {
    // The stack has the end of the weights. The compiler reserves r6 and r7, which are saved here.
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        asm!(
            "push {{r3, r6, r7}}",
            "lsls r2, r2, #2",
            "adds r2, r1, r2",
            "push {{r2}}",
            "movs r6, #0",
            "movs r7, #0",
            "mov r8, r6",
            "mov r9, r6",
            "mov r10, r6",
            "mov r11, r6",
            "mov r12, r6",
            "mov lr, r6",
            "1:",
            product!("sxth r5, r5", "sxth r2, r2"),
            product!("asrs r5, r5, #16", "asrs r2, r2, #16"),
            "adds r0, r0, #16",
            "adds r1, r1, #4",
            "ldr r2, [sp]",
            "cmp r1, r2",
            "bne 1b",
            "pop {{r2, r3}}",
            "mov r0, r8",
            "mov r1, r9",
            "mov r4, r10",
            "mov r5, r11",
            "stm r3!, {{r6, r7}}",
            "stm r3!, {{r0, r1, r4, r5}}",
            "mov r0, r12",
            "mov r1, lr",
            "stm r3!, {{r0, r1}}",
            "pop {{r6, r7}}",
            inout("r0") tile => _, inout("r1") weights => _, inout("r2") pairs => _, inout("r3") sums => _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        );
    }
}

/// The sums of a panel for a pixel: of the even channel and of the packed weights.
///
/// # Safety
/// `tile` has 4 bytes for each pair, of which there is one, aligned to 4, `weights` as many, and `sums` two integers.
#[inline(never)]
unsafe fn one_pixel(tile: *const i16, weights: *const i8, pairs: usize, sums: *mut i32) {
    // r8 end of the weights in groups of four pairs, r9 end of all. The compiler reserves r6 and r7, which are saved here.
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        asm!(
            "push {{r3, r6, r7}}",
            "lsls r4, r2, #2",
            "adds r4, r1, r4",
            "mov r9, r4",
            "lsrs r4, r2, #2",
            "lsls r4, r4, #4",
            "adds r4, r1, r4",
            "mov r8, r4",
            "movs r6, #0",
            "movs r7, #0",
            "b 3f",
            "2:",
            single!(),
            single!(),
            single!(),
            single!(),
            "3:",
            "cmp r1, r8",
            "bne 2b",
            "b 5f",
            "4:",
            single!(),
            "5:",
            "cmp r1, r9",
            "bne 4b",
            "mov r4, r6",
            "mov r5, r7",
            "pop {{r3, r6, r7}}",
            "stm r3!, {{r4, r5}}",
            inout("r0") tile => _, inout("r1") weights => _, inout("r2") pairs => _, inout("r3") sums => _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _,
        );
    }
}

/// The product of a tap and a channel: r4 weights, the next in the lowest byte.
macro_rules! tap {
    ($tap:literal, $channel:literal, $sum:literal) => {
        concat!(
            "sxtb r5, r4\n ldrb r6, [",
            $tap,
            ", #",
            $channel,
            "]\n sxtb r6, r6\n muls r5, r6, r5\n",
            "add ",
            $sum,
            ", r5\n lsrs r4, r4, #8\n"
        )
    };
}

/// Adds the products of four channels from `first` on to the sums; the image, or the zeros, have all four. 56 instructions for 8
/// products.
pub fn depthwise(taps: &Taps<'_>, first: usize, weights: &[i8], sums: &mut [i32; DEPTHWISE_CHANNELS]) {
    let pairs = (taps.offsets.len() / 2).min(weights.len() / (2 * DEPTHWISE_CHANNELS));
    if pairs == 0 || taps.zeros.len() < first + DEPTHWISE_CHANNELS {
        return;
    }
    let offsets = taps.offsets.as_ptr();
    // r0 image, r1 offsets, r2 weights, r8 to r11 sums, r12 end of the offsets. The compiler reserves r6 and r7, which are saved here.
    // SAFETY: each tap has all channels, in the image or in the zeros; there are `pairs` pairs of offsets and weights.
    unsafe {
        asm!(
            "push {{r4, r6, r7}}",
            "mov r12, r3",
            "ldm r4!, {{r3, r5, r6, r7}}",
            "mov r8, r3",
            "mov r9, r5",
            "mov r10, r6",
            "mov r11, r7",
            "1:",
            "ldm r1!, {{r3, r7}}",
            "adds r3, r0, r3",
            "adds r7, r0, r7",
            "ldm r2!, {{r4}}",
            tap!("r3", "0", "r8"),
            tap!("r3", "1", "r9"),
            tap!("r7", "0", "r8"),
            tap!("r7", "1", "r9"),
            "ldm r2!, {{r4}}",
            tap!("r3", "2", "r10"),
            tap!("r3", "3", "r11"),
            tap!("r7", "2", "r10"),
            tap!("r7", "3", "r11"),
            "cmp r1, r12",
            "bne 1b",
            "mov r0, r8",
            "mov r1, r9",
            "mov r2, r10",
            "mov r3, r11",
            "pop {{r4, r6, r7}}",
            "stm r4!, {{r0, r1, r2, r3}}",
            inout("r0") taps.image.as_ptr().wrapping_add(first) => _, inout("r1") offsets => _,
            inout("r2") weights.as_ptr() => _, inout("r3") offsets.wrapping_add(2 * pairs) => _,
            inout("r4") sums.as_mut_ptr() => _,
            out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _,
        );
    }
}
