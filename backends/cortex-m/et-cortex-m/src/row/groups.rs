//! Depthwise convolution: two taps of four channels at a time, by the `two_taps!` and `requantize!` of the row before.
#![allow(unsafe_code, reason = "inline assembly; the lengths are checked before the loops")]

use super::{DEPTHWISE_CHANNELS, Direct, Taps};
use crate::Channel;

/// Whether [`depthwise_pixel`] exists in this row.
pub const IS_DEPTHWISE_DIRECT: bool = true;

/// What the loop over groups of channels reads, and changes, in memory.
#[repr(C)]
struct Groups {
    image: *const i8,
    weights: *const i8,
    offsets: *const u32,
    offsets_end: *const u32,
    channels: *const Channel,
    output: *mut i8,
    /// `2 * zero + 1`.
    rounding: i32,
    groups: usize,
}

/// Computes all channels, a multiple of [`DEPTHWISE_CHANNELS`], of a pixel. The taps lie inside of the image, or at the zeros.
pub fn depthwise_pixel(taps: &Taps<'_>, weights: &[i8], channels: &[Channel], direct: Direct, output: &mut [i8]) {
    let groups = channels.len() / DEPTHWISE_CHANNELS;
    let pairs = taps.offsets.len() / 2;
    let fits = weights.len() >= 2 * DEPTHWISE_CHANNELS * pairs * groups && output.len() >= channels.len();
    if pairs == 0 || groups == 0 || !fits {
        return;
    }
    let offsets = taps.offsets.as_ptr();
    let mut groups = Groups {
        image: taps.image.as_ptr(),
        weights: weights.as_ptr(),
        offsets,
        offsets_end: offsets.wrapping_add(2 * pairs),
        channels: channels.as_ptr(),
        output: output.as_mut_ptr(),
        rounding: 2 * direct.zero + 1,
        groups,
    };
    // SAFETY: the operands have the lengths that the loops need, as checked above, and the caller checks the offsets.
    unsafe { all_groups(&raw mut groups) }
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
            "ldr r3, [r8, #12]",
            "ldr r4, [r8, #24]",
            "ldr r5, [r8, #36]",
            "2:",
            two_taps!(),
            "cmp r6, r7",
            "bne 2b",
            "ldrd r6, r7, [sp, #16]",
            "ldr lr, [sp, #24]",
            "ldrd r11, r12, [r6, #4]",
            "mvn r12, r12",
            requantize!("lsl", "1", "r2"),
            "ldrd r11, r12, [r6, #16]",
            "mvn r12, r12",
            requantize!("lsl", "1", "r3"),
            "ldrd r11, r12, [r6, #28]",
            "mvn r12, r12",
            requantize!("lsl", "1", "r4"),
            "ldrd r11, r12, [r6, #40]",
            "mvn r12, r12",
            requantize!("lsl", "1", "r5"),
            "strb r2, [r7]",
            "strb r3, [r7, #1]",
            "strb r4, [r7, #2]",
            "strb r5, [r7, #3]",
            "add r6, r6, #48",
            "add r7, r7, #4",
            "strd r6, r7, [sp, #16]",
            "add r0, r0, #4",
            "strd r0, r1, [sp]",
        });
    }
}
