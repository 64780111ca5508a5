//! The DSP extension of Armv7E-M and Armv8-M: two 16-bit products in an instruction.
#![allow(unsafe_code, reason = "inline assembly; the lengths are checked before the loops")]

use core::arch::asm;

use super::{CHANNELS, DEPTHWISE_CHANNELS, Distances, LANES, Taps};

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

/// Adds the products of `P` pixels, 1 or [`LANES`], and two channels to the sums.
#[inline]
pub fn products<const P: usize>(tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; P]) {
    let pairs = (weights.len() / (2 * CHANNELS)).min(tile.len() / (2 * P));
    if pairs == 0 {
        return;
    }
    let sums = sums.as_mut_ptr().cast::<i32>();
    // SAFETY: both operands have `pairs` pairs for `P` pixels, and `sums` has a sum for each pixel and channel.
    unsafe {
        match P {
            LANES => four_pixels(tile.as_ptr(), weights.as_ptr(), pairs, sums),
            _ => (0..P).for_each(|pixel| {
                debug_assert!(P == 1);
                one_pixel(tile.as_ptr(), weights.as_ptr(), pairs, sums.add(pixel * CHANNELS));
            }),
        }
    }
}

/// The loop over pairs for four pixels and two channels: 13 instructions for 16 products.
///
/// # Safety
/// `tile` has 16 bytes for each pair, aligned to 4, `weights` 4 bytes, and `sums` eight integers.
#[inline(never)]
unsafe fn four_pixels(tile: *const i16, weights: *const i8, pairs: usize, sums: *mut i32) {
    // r0 tile, r1 weights, r2 to r9 sums, r10 and r11 columns, r12 and lr weights of the two channels. The number of pairs and the
    // address of the sums are on the stack.
    // The compiler reserves r6 and r7, which are saved here.
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        asm!(
            ".macro et_pair",
            "ldr r12, [r1], #4",
            "ldrd r10, r11, [r0], #8",
            "sxtb16 lr, r12, ror #8",
            "sxtb16 r12, r12",
            "smlad r2, r10, r12, r2",
            "smlad r3, r10, lr, r3",
            "smlad r4, r11, r12, r4",
            "smlad r5, r11, lr, r5",
            "ldrd r10, r11, [r0], #8",
            "smlad r6, r10, r12, r6",
            "smlad r7, r10, lr, r7",
            "smlad r8, r11, r12, r8",
            "smlad r9, r11, lr, r9",
            ".endm",
            "push {{r6, r7}}",
            "push {{r2, r3}}",
            "ldm r3, {{r2-r9}}",
            // Pairs behind the last four.
            "ldr r12, [sp]",
            "ands r12, r12, #3",
            "beq 2f",
            "1:",
            "str r12, [sp, #-4]!",
            "et_pair",
            "ldr r12, [sp], #4",
            "subs r12, r12, #1",
            "bne 1b",
            "2:",
            "ldr r12, [sp]",
            "lsrs r12, r12, #2",
            "beq 4f",
            "3:",
            "str r12, [sp]",
            "et_pair",
            "et_pair",
            "et_pair",
            "et_pair",
            "ldr r12, [sp]",
            "subs r12, r12, #1",
            "bne 3b",
            "4:",
            "ldr r12, [sp, #4]",
            "stm r12, {{r2-r9}}",
            "add sp, sp, #8",
            "pop {{r6, r7}}",
            ".purgem et_pair",
            inout("r0") tile => _, inout("r1") weights => _, inout("r2") pairs => _, inout("r3") sums => _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        );
    }
}

/// The loop over pairs for a pixel and two channels: 10 instructions for 8 products.
///
/// # Safety
/// `tile` has 4 bytes for each pair, aligned to 4, `weights` as many, and `sums` two integers.
#[inline(never)]
unsafe fn one_pixel(tile: *const i16, weights: *const i8, pairs: usize, sums: *mut i32) {
    // The compiler reserves r6 and r7, which are saved here.
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        asm!(
            ".macro et_two_pairs",
            "ldrd r6, r7, [r0], #8",
            "ldrd r8, r9, [r1], #8",
            "sxtb16 r10, r8",
            "sxtb16 r8, r8, ror #8",
            "smlad r4, r6, r10, r4",
            "smlad r5, r6, r8, r5",
            "sxtb16 r10, r9",
            "sxtb16 r9, r9, ror #8",
            "smlad r4, r7, r10, r4",
            "smlad r5, r7, r9, r5",
            ".endm",
            "push {{r6, r7}}",
            "ldrd r4, r5, [r3]",
            "tst r2, #1",
            "beq 1f",
            "ldr r6, [r0], #4",
            "ldr r8, [r1], #4",
            "sxtb16 r10, r8",
            "sxtb16 r8, r8, ror #8",
            "smlad r4, r6, r10, r4",
            "smlad r5, r6, r8, r5",
            "1:",
            "tst r2, #2",
            "beq 2f",
            "et_two_pairs",
            "2:",
            "lsrs r2, r2, #2",
            "beq 4f",
            "3:",
            "et_two_pairs",
            "et_two_pairs",
            "subs r2, r2, #1",
            "bne 3b",
            "4:",
            "strd r4, r5, [r3]",
            "pop {{r6, r7}}",
            ".purgem et_two_pairs",
            inout("r0") tile => _, inout("r1") weights => _, inout("r2") pairs => _, inout("r3") sums => _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        );
    }
}

/// Adds the products of four channels to the sums.
pub fn depthwise(input: &[i8], weights: &[i16], taps: &Taps, sums: &mut [i32; DEPTHWISE_CHANNELS]) {
    let Distances { input_row, input_tap, weights_row, rows, columns } = taps.distances;
    if !taps.fit(input.len(), weights.len()) {
        return;
    }
    let arguments = Arguments {
        input_skip: input_row.wrapping_sub(columns.wrapping_mul(input_tap)),
        weights_skip: 2 * weights_row.wrapping_sub(columns.wrapping_mul(DEPTHWISE_CHANNELS)),
        columns,
        rows,
        sums: sums.as_mut_ptr(),
    };
    // SAFETY: the last element of the last tap lies inside both operands, and strides are positive.
    unsafe {
        let (input, weights) = (input.as_ptr().add(taps.input), weights.as_ptr().add(taps.weights));
        window(input, weights, &arguments, input_tap);
    }
}

/// What the loop over the taps of a window reads from memory.
#[repr(C)]
struct Arguments {
    /// Bytes from the end of a row of taps to the next.
    input_skip: usize,
    /// Bytes from the end of a row of weights to the next.
    weights_skip: usize,
    /// Taps of a row.
    columns: usize,
    /// Rows of taps.
    rows: usize,
    /// Four sums.
    sums: *mut i32,
}

/// The loop over the taps of a window for four channels: 11 instructions for 4 products.
///
/// # Safety
/// `input` has four bytes at each tap, `stride` bytes apart in a row; `weights` has four integers for each, aligned to 4. There is a
/// row and a column.
#[inline(never)]
unsafe fn window(input: *const i8, weights: *const i16, arguments: *const Arguments, stride: usize) {
    // r0 input, r1 weights, r2 columns, r3 stride, r4 to r7 sums, r8 and r9 image, r10 and r11 weights, r12 rows, lr arguments.
    // The compiler reserves r6 and r7, which are saved here.
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        asm!(
            "push {{r6, r7}}",
            "mov lr, r2",
            "ldr r12, [lr, #16]",
            "ldm r12, {{r4-r7}}",
            "ldr r12, [lr, #12]",
            "1:",
            "ldr r2, [lr, #8]",
            "2:",
            "ldr r8, [r0]",
            "ldrd r10, r11, [r1], #8",
            "add r0, r0, r3",
            "sxtb16 r9, r8, ror #8",
            "sxtb16 r8, r8",
            "smlabb r4, r8, r10, r4",
            "smlatt r6, r8, r10, r6",
            "smlabb r5, r9, r11, r5",
            "smlatt r7, r9, r11, r7",
            "subs r2, r2, #1",
            "bne 2b",
            "ldrd r8, r9, [lr]",
            "add r0, r0, r8",
            "add r1, r1, r9",
            "subs r12, r12, #1",
            "bne 1b",
            "ldr r12, [lr, #16]",
            "stm r12, {{r4-r7}}",
            "pop {{r6, r7}}",
            inout("r0") input => _, inout("r1") weights => _, inout("r2") arguments => _, inout("r3") stride => _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        );
    }
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
