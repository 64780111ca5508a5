//! Helium: eight products in an instruction.
#![allow(unsafe_code, reason = "inline assembly; the lengths are checked before the loops")]

use core::arch::asm;

use super::{BLOCK, Layer};
use crate::row::{CHANNELS, LANES};

/// What the loop over panels reads in memory; the assembly knows the offsets.
#[repr(C)]
struct Panel {
    /// What the sums of two pixels begin with, channel by channel: offset 0.
    biases: [i32; 2 * CHANNELS],
    /// The factors, and the limits of the results, likewise: 16, 32 and 48.
    multipliers: [i32; 2 * CHANNELS],
    least: [i32; 2 * CHANNELS],
    most: [i32; 2 * CHANNELS],
    /// The places of the results of two pixels, in elements: 64.
    offsets: [u32; 2 * CHANNELS],
    /// The columns, the weights, and the blocks: 80, 84 and 88.
    tile: *const i16,
    weights: *const i8,
    blocks: usize,
    /// The bytes from the results of the first two pixels to those of the others: 92.
    second: usize,
}

/// The products of a block of four pixels and two channels: 16 instructions for 64 products. r1 tile, r5 weights, r7 blocks; the sums of
/// even and odd channels are r0 and r2 of the first pixel, r4 and r6, r8 and r10, r12 and lr of the others.
macro_rules! blocks_of_four {
    () => {
        "2:
        vldrb.s16 q4, [r5], #8
        vldrh.u16 q0, [r1], #16
        vmladava.s16 r0, q0, q4
        vldrh.u16 q1, [r1], #16
        vmladava.s16 r4, q1, q4
        vldrh.u16 q2, [r1], #16
        vmladava.s16 r8, q2, q4
        vldrh.u16 q3, [r1], #16
        vmladava.s16 r12, q3, q4
        vldrb.s16 q5, [r5], #8
        vmladava.s16 r2, q0, q5
        vmladava.s16 r6, q1, q5
        vmladava.s16 r10, q2, q5
        vmladava.s16 lr, q3, q5
        subs r7, r7, #1
        bne 2b
        "
    };
}

/// Adds the products of `P` pixels, 1 or [`LANES`], and two channels to the sums.
#[inline]
pub fn products<const P: usize>(tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; P]) {
    let blocks = (weights.len() / (BLOCK * CHANNELS)).min(tile.len() / (BLOCK * P));
    if blocks == 0 {
        return;
    }
    // SAFETY: both operands have all blocks for `P` pixels, and `sums` has a sum for each pixel and channel.
    unsafe {
        let (tile, weights, sums) = (tile.as_ptr(), weights.as_ptr(), sums.as_mut_ptr().cast());
        if P == LANES { four_pixels(tile, weights, blocks, sums) } else { one_pixel(tile, weights, blocks, sums) }
    }
}

/// Computes all channels of a tile of pixels; false for layers that need more than 32 bits, or have an odd number of channels.
pub fn tile_to_int16<const P: usize>(columns: &[i16], layer: &Layer<'_>, results: &mut [i16]) -> bool {
    let (blocks, stride) = (columns.len() / (BLOCK * P), layer.channels.len());
    let panels = layer.channels.as_chunks::<CHANNELS>();
    let bytes = (BLOCK * CHANNELS * blocks).max(1);
    let has_all = layer.weights.len() >= bytes * panels.0.len() && results.len() >= LANES * stride;
    if P != LANES || !layer.narrow || blocks == 0 || !panels.1.is_empty() || !has_all {
        return false;
    }
    let (step, limits) = (stride as u32, layer.limits);
    let mut panel = Panel {
        biases: [0; 2 * CHANNELS],
        multipliers: [0; 2 * CHANNELS],
        least: [limits.least; 2 * CHANNELS],
        most: [limits.most; 2 * CHANNELS],
        offsets: [0, 1, step, step + 1],
        tile: columns.as_ptr(),
        weights: layer.weights.as_ptr(),
        blocks,
        second: 2 * stride * size_of::<i16>(),
    };
    let mut output = results.as_mut_ptr();
    for ([even, odd], weights) in panels.0.iter().zip(layer.weights.chunks_exact(bytes)) {
        let biases = [even, odd].map(|channel| channel.bias_low.cast_signed());
        panel.biases = [biases[0], biases[1], biases[0], biases[1]];
        panel.multipliers = [even.multiplier, odd.multiplier, even.multiplier, odd.multiplier];
        panel.weights = weights.as_ptr();
        // SAFETY: the operands have all blocks, and the results four pixels of all channels, as checked above.
        unsafe { panel_to_int16(&raw const panel, output) }
        output = output.wrapping_add(CHANNELS);
    }
    true
}

/// Adds the products of four pixels.
///
/// # Safety
/// `tile` has 64 bytes for each block, aligned to 2, `weights` 16 bytes, and `sums` eight integers; there is a block.
#[inline(never)]
unsafe fn four_pixels(tile: *const i16, weights: *const i8, blocks: usize, sums: *mut i32) {
    // The compiler reserves r6 and r7, which are saved here.
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        asm!(
            "push {{r6, r7}}",
            "mov r7, r9",
            "ldrd r0, r2, [r3]",
            "ldrd r4, r6, [r3, #8]",
            "ldrd r8, r10, [r3, #16]",
            "ldrd r12, lr, [r3, #24]",
            blocks_of_four!(),
            "strd r0, r2, [r3]",
            "strd r4, r6, [r3, #8]",
            "strd r8, r10, [r3, #16]",
            "strd r12, lr, [r3, #24]",
            "pop {{r6, r7}}",
            inout("r1") tile => _, in("r3") sums, inout("r5") weights => _, inout("r9") blocks => _, out("r0") _, out("r2") _, out("r4") _,
            out("r8") _, out("r10") _, out("r12") _, out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _,
            out("d5") _, out("d6") _, out("d7") _, out("d8") _, out("d9") _, out("d10") _, out("d11") _,
        );
    }
}

/// Adds the products of a pixel.
///
/// # Safety
/// `tile` has 16 bytes for each block, aligned to 2, `weights` as many, and `sums` two integers; there is a block.
#[inline(never)]
unsafe fn one_pixel(tile: *const i16, weights: *const i8, blocks: usize, sums: *mut i32) {
    // SAFETY: the caller's promise; all registers are declared.
    unsafe {
        asm!(
            "ldrd r0, r2, [r3]",
            "2:",
            "vldrh.u16 q0, [r1], #16",
            "vldrb.s16 q1, [r5], #8",
            "vmladava.s16 r0, q0, q1",
            "vldrb.s16 q2, [r5], #8",
            "vmladava.s16 r2, q0, q2",
            "subs r9, r9, #1",
            "bne 2b",
            "strd r0, r2, [r3]",
            inout("r1") tile => _, in("r3") sums, inout("r5") weights => _, inout("r9") blocks => _, out("r0") _, out("r2") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
        );
    }
}

/// The results of four pixels and two channels: 16 instructions for 8 results, and those for each block.
///
/// # Safety
/// The pointers of the panel are those of operands for all blocks, of which there is one; `results` has four pixels of all channels.
#[inline(never)]
unsafe fn panel_to_int16(panel: *const Panel, results: *mut i16) {
    // The upper word of a rounded product is the rule for a shift of 32.
    // SAFETY: the caller's promise; r6 and r7 are saved here, all other registers are declared.
    unsafe {
        asm!(
            "push {{r6, r7}}",
            "ldrd r1, r5, [r11, #80]",
            "ldr r7, [r11, #88]",
            "ldm r11, {{r0, r2, r4, r6}}",
            "ldm r11, {{r8, r10, r12, lr}}",
            blocks_of_four!(),
            "vmov q0[2], q0[0], r0, r4",
            "vmov q0[3], q0[1], r2, r6",
            "vmov q1[2], q1[0], r8, r12",
            "vmov q1[3], q1[1], r10, lr",
            "add r5, r11, #16",
            "vldrw.u32 q2, [r5]",
            "vldrw.u32 q3, [r5, #16]",
            "vldrw.u32 q4, [r5, #32]",
            "vldrw.u32 q5, [r5, #48]",
            "ldr r1, [r11, #92]",
            "add r1, r1, r3",
            "vrmulh.s32 q0, q0, q2",
            "vrmulh.s32 q1, q1, q2",
            "vmax.s32 q0, q0, q3",
            "vmax.s32 q1, q1, q3",
            "vmin.s32 q0, q0, q4",
            "vmin.s32 q1, q1, q4",
            "vstrh.32 q0, [r3, q5, uxtw #1]",
            "vstrh.32 q1, [r1, q5, uxtw #1]",
            "pop {{r6, r7}}",
            in("r11") panel, in("r3") results, out("r0") _, out("r1") _, out("r2") _, out("r4") _, out("r5") _, out("r8") _,
            out("r10") _, out("r12") _, out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _,
            out("d6") _, out("d7") _, out("d8") _, out("d9") _, out("d10") _, out("d11") _,
        );
    }
}
