//! Depthwise convolution: two taps of four channels at a time.

use core::arch::asm;

use super::super::{Layer, plain};
use super::{is_direct, least_twice};
use crate::Channel16;
use crate::row::{DEPTHWISE_CHANNELS, Taps};

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

/// The products of two taps and four channels: 23 instructions for 8 products. r0 image, r2 to r5 sums, r6 offsets.
macro_rules! all_channels {
    () => {
        concat!(
            "ldrd r8, r9, [r6], #8\n add r8, r0, r8, lsl #1\n add r9, r0, r9, lsl #1\n",
            two_taps!("0", "r2", "r3"),
            two_taps!("4", "r4", "r5")
        )
    };
}

/// Adds the products of four channels from `first` on to the sums.
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
            all_channels!(),
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

/// What the loop over groups of channels reads, and changes, in memory.
#[repr(C)]
struct Groups {
    image: *const i16,
    weights: *const i8,
    offsets: *const u32,
    offsets_end: *const u32,
    channels: *const Channel16,
    output: *mut i16,
    /// The smallest result in both halves.
    least: u32,
    groups: usize,
}

/// Computes all channels of a pixel; `false`, and nothing, for a layer without this way. The taps lie inside of the image, or at the zeros.
pub fn pixel_to_int16(taps: &Taps<'_, i16>, layer: &Layer<'_>, output: &mut [i16]) -> bool {
    let groups = layer.channels.len() / DEPTHWISE_CHANNELS;
    let pairs = taps.offsets.len() / 2;
    let fits = layer.weights.len() >= 2 * DEPTHWISE_CHANNELS * pairs * groups && output.len() >= layer.channels.len();
    if pairs == 0 || groups == 0 || !fits || !is_direct(layer, DEPTHWISE_CHANNELS) {
        return false;
    }
    let offsets = taps.offsets.as_ptr();
    let mut groups = Groups {
        image: taps.image.as_ptr(),
        weights: layer.weights.as_ptr(),
        offsets,
        offsets_end: offsets.wrapping_add(2 * pairs),
        channels: layer.channels.as_ptr(),
        output: output.as_mut_ptr(),
        least: least_twice(layer),
        groups,
    };
    // SAFETY: the operands have the lengths that the loops need, as checked above, and the caller checks the offsets.
    unsafe { all_groups(&raw mut groups) }
    true
}

/// The loop over groups of four channels.
///
/// # Safety
/// The pointers are those of operands for all pairs of taps and all channels.
#[inline(never)]
unsafe fn all_groups(groups: *mut Groups) {
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        counted_loop!(groups, "32", "{{r1-r5, r8-r10}}", "28", {
            "ldrd r0, r1, [sp]",
            "ldrd r6, r7, [sp, #8]",
            "ldr r8, [sp, #16]",
            "ldr r2, [r8]",
            "ldr r3, [r8, #16]",
            "ldr r4, [r8, #32]",
            "ldr r5, [r8, #48]",
            "2:",
            all_channels!(),
            "cmp r6, r7",
            "bne 2b",
            "ldrd r6, r7, [sp, #16]",
            "ldr lr, [sp, #24]",
            "ldr r11, [r6, #8]",
            "ldr r12, [r6, #24]",
            requantize!("r2", "r3"),
            "ldr r11, [r6, #40]",
            "ldr r12, [r6, #56]",
            requantize!("r4", "r5"),
            "str r2, [r7], #4",
            "str r4, [r7], #4",
            "add r6, r6, #64",
            "strd r6, r7, [sp, #16]",
            "add r0, r0, #8",
            "strd r0, r1, [sp]",
        });
    }
}
