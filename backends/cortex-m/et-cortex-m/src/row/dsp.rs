//! The DSP extension of Armv7E-M and Armv8-M: two 16-bit products in an instruction.
#![allow(unsafe_code, reason = "inline assembly; the lengths are checked before the loops")]

/// A sum as int8: 6 instructions, after TensorFlow Lite's rule for a factor below 1/2. The sum is doubled by `$shift`; r11 multiplier,
/// r12 the right shift less 1, lr `2 * zero + 1`.
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
            "smmulr ",
            $sum,
            ", ",
            $sum,
            ", r11\n",
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
            ", asr #1\n"
        )
    };
}

/// The products of two taps and four channels: 20 instructions for 8 products. r0 image, r1 weights, r2 to r5 sums, r6 offsets.
macro_rules! two_taps {
    () => {
        "ldrd r8, r9, [r6], #8
        ldr r8, [r0, r8]
        ldr r9, [r0, r9]
        ldrd r12, lr, [r1], #8
        pkhbt r10, r8, r9, lsl #16
        pkhtb r8, r9, r8, asr #16
        sxtb16 r9, r10
        sxtb16 r11, r12
        smlad r2, r9, r11, r2
        sxtb16 r9, r10, ror #8
        sxtb16 r11, r12, ror #8
        smlad r3, r9, r11, r3
        sxtb16 r9, r8
        sxtb16 r11, lr
        smlad r4, r9, r11, r4
        sxtb16 r9, r8, ror #8
        sxtb16 r11, lr, ror #8
        smlad r5, r9, r11, r5
        "
    };
}

#[macro_use]
pub mod panels;
// Behind the panels, whose macros the loops have.
mod gemm;

use core::arch::asm;

pub use gemm::{products, tile_to_int8};

/// Whether [`tile_to_int8`] exists in this row.
pub const IS_DIRECT: bool = true;

/// The high half of the doubled product, rounded to nearest, halves up. A value is below 2^30.
#[inline(always)]
pub fn doubling_high_product(value: i32, multiplier: i32) -> i32 {
    let high;
    // SAFETY: the instruction reads and writes registers only.
    unsafe {
        asm!("smmulr {high}, {value}, {multiplier}", high = lateout(reg) high, value = in(reg) value << 1,
            multiplier = in(reg) multiplier, options(pure, nomem, nostack, preserves_flags));
    }
    high
}

/// Widens pairs of elements to `tile`, where pairs are `2 * lanes` elements apart: 5 instructions for a pair.
pub fn expand(tile: &mut [i16], lanes: usize, pairs: &[[i8; 2]]) {
    let step = 2 * lanes;
    let count = pairs.len().min(tile.len().saturating_add(step).saturating_sub(2) / step.max(1));
    let (mut from, mut to) = (pairs.as_ptr().cast::<i8>(), tile.as_mut_ptr());
    // SAFETY: `count` pairs lie in both operands: the last begins `step * (count - 1)` elements behind the first of `tile`.
    unsafe {
        for _ in 0..count / 2 {
            asm!(
                "ldr {word}, [{from}], #4",
                "sxtb16 {even}, {word}",
                "sxtb16 {word}, {word}, ror #8",
                "pkhbt {odd}, {even}, {word}, lsl #16",
                "pkhtb {word}, {word}, {even}, asr #16",
                "str {odd}, [{to}]",
                "str {word}, [{to}, {step}]",
                from = inout(reg) from, to = in(reg) to, step = in(reg) 2 * step,
                word = out(reg) _, even = out(reg) _, odd = out(reg) _, options(nostack),
            );
            to = to.wrapping_add(2 * step);
        }
        if count % 2 == 1 {
            to.write(i16::from(from.read()));
            to.add(1).write(i16::from(from.add(1).read()));
        }
    }
}
