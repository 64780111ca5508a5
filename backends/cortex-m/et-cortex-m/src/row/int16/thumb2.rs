//! Armv7-M: products of halfwords and bytes by `mla`.
#![allow(unsafe_code, reason = "inline assembly; the lengths are checked before the loops")]

use core::arch::asm;

use crate::row::{CHANNELS, LANES};

/// A product of four pixels and two channels: 14 instructions for 8 products. r0 tile, r2 to r9 sums, pixel by pixel, r10 and r11 weights.
macro_rules! product {
    ([$even:literal, $odd:literal], [$first:literal, $second:literal, $third:literal, $fourth:literal]) => {
        concat!(
            "ldrsb r10, [r1, #",
            $even,
            "]\n ldrsb r11, [r1, #",
            $odd,
            "]\n",
            product!("r2", "r3", $first),
            product!("r4", "r5", $second),
            product!("r6", "r7", $third),
            product!("r8", "r9", $fourth),
        )
    };
    ($even:literal, $odd:literal, $at:literal) => {
        concat!(
            "ldrsh r12, [r0, #",
            $at,
            "]\n mla ",
            $even,
            ", r12, r10, ",
            $even,
            "\n mla ",
            $odd,
            ", r12, r11, ",
            $odd,
            "\n"
        )
    };
}

/// The products of two pairs.
macro_rules! two_pairs {
    () => {
        concat!(
            product!(["0", "1"], ["0", "4", "8", "12"]),
            product!(["2", "3"], ["2", "6", "10", "14"]),
            product!(["4", "5"], ["16", "20", "24", "28"]),
            product!(["6", "7"], ["18", "22", "26", "30"]),
            "add r0, r0, #32\n add r1, r1, #8\n"
        )
    };
}

/// Adds the products of `P` pixels, 1 or [`LANES`], and two channels to the sums.
#[inline]
pub fn products<const P: usize>(tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; P]) {
    let pairs = (weights.len() / (2 * CHANNELS)).min(tile.len() / (2 * P));
    if P != LANES || pairs == 0 {
        return super::plain::products(tile, weights, sums);
    }
    // SAFETY: both operands have `pairs` pairs for four pixels, and `sums` has a sum for each pixel and channel.
    unsafe { four_pixels(tile.as_ptr(), weights.as_ptr(), pairs, sums.as_mut_ptr().cast()) }
}

/// Adds the products of a panel for four pixels.
///
/// # Safety
/// `tile` has 16 bytes for each pair, `weights` 4 bytes, and `sums` eight integers.
#[inline(never)]
unsafe fn four_pixels(tile: *const i16, weights: *const i8, pairs: usize, sums: *mut i32) {
    // The compiler reserves r6 and r7, which are saved here. lr counts groups of two pairs; the stack has whether a pair is left.
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        asm!(
            "push {{r3, r6, r7}}",
            "and r4, r2, #1",
            "lsr lr, r2, #1",
            "push {{r4}}",
            "ldm r3, {{r2-r9}}",
            "cmp lr, #0",
            "beq 3f",
            "2:",
            two_pairs!(),
            "subs lr, lr, #1",
            "bne 2b",
            "3:",
            "pop {{r12}}",
            "cmp r12, #0",
            "beq 4f",
            product!(["0", "1"], ["0", "4", "8", "12"]),
            product!(["2", "3"], ["2", "6", "10", "14"]),
            "4:",
            "pop {{r12}}",
            "stm r12, {{r2-r9}}",
            "pop {{r6, r7}}",
            inout("r0") tile => _, inout("r1") weights => _, inout("r2") pairs => _, inout("r3") sums => _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        );
    }
}
