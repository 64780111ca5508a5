//! Depthwise convolution: two taps of 16 channels at a time.

use core::arch::asm;

use super::super::{DEPTHWISE_CHANNELS, Direct, Taps};
use crate::Channel;

/// Channels of a vector.
const GROUP: usize = 16;

/// Bytes between the constants of the lanes of a vector of sums, which are four channels apart.
const STEP: u32 = (DEPTHWISE_CHANNELS * size_of::<Channel>()) as u32;

/// What the loop over groups of channels reads in memory; the assembly knows the offsets.
#[repr(C)]
struct Groups {
    /// The offsets of the taps, and pairs of taps: 0 and 4.
    offsets: *const u32,
    pairs: usize,
    /// Whether a tap follows the pairs: 8.
    odd: usize,
    /// The offsets of the constants of a vector of sums: 12.
    constants: [u32; 4],
}

/// Adds 16-bit sums to the sums: q6 those of even channels, q4 those of odd channels. q0 has channels 0, 4, 8 and 12, q1 from 2 on, q2
/// from 1 on, q3 from 3 on.
macro_rules! widen {
    () => {
        "vmovlb.s16 q5, q6
        vmovlt.s16 q6, q6
        vadd.i32 q0, q0, q5
        vmovlb.s16 q5, q4
        vadd.i32 q1, q1, q6
        vmovlt.s16 q4, q4
        vadd.i32 q2, q2, q5
        vadd.i32 q3, q3, q4
        "
    };
}

/// The results of a vector of sums, whose constants are at an offset from the addresses in q4.
macro_rules! requantize_at {
    ($sums:literal, $multiplier:literal, $shift:literal) => {
        concat!(
            "vldrw.u32 q5, [q4, #",
            $multiplier,
            "]\n vldrw.u32 q6, [q4, #",
            $shift,
            "]\n",
            requantize!($sums, "q7", "q5", "q6", "r9")
        )
    };
}

/// Computes all channels, a multiple of [`DEPTHWISE_CHANNELS`], of a pixel. The taps lie inside of the image, or at the zeros. Sums of
/// two neighbouring products fit in 16 bits.
pub fn depthwise_pixel(taps: &Taps<'_>, weights: &[i8], channels: &[Channel], direct: Direct, output: &mut [i8]) {
    let count = channels.len() / DEPTHWISE_CHANNELS * DEPTHWISE_CHANNELS;
    let fits = weights.len() >= count.next_multiple_of(GROUP) * taps.offsets.len() && output.len() >= count;
    if count == 0 || !fits {
        return;
    }
    let groups = Groups {
        offsets: taps.offsets.as_ptr(),
        pairs: taps.offsets.len() / 2,
        odd: taps.offsets.len() % 2,
        constants: [0, STEP, 2 * STEP, 3 * STEP],
    };
    let operands = (taps.image.as_ptr(), weights.as_ptr(), channels.as_ptr(), output.as_mut_ptr());
    // SAFETY: the operands have the lengths that the loops need, as checked above, and the caller checks the offsets.
    unsafe { all_groups(&raw const groups, operands, count, direct.zero) }
}

/// The loop over groups of 16 channels; the last may have fewer: 24 instructions for 32 products, and 60 for 16 results.
///
/// # Safety
/// The pointers are those of operands for all taps and `count` channels.
#[inline(never)]
unsafe fn all_groups(
    groups: *const Groups,
    (image, weights, channels, output): (*const i8, *const i8, *const Channel, *mut i8),
    count: usize,
    zero: i32,
) {
    // The remaining channels, in lr, predicate the vector instructions of the loop.
    // SAFETY: the caller's promise; all registers are declared.
    unsafe {
        asm!(
            "dlstp.8 lr, r12",
            "2:",
            "ldrd r2, r3, [r10]",
            "add r4, r10, #12",
            "vldrw.u32 q4, [r4]",
            "vadd.i32 q4, q4, r11",
            "vldrw.u32 q0, [q4]",
            "vldrw.u32 q1, [q4, #24]",
            "vldrw.u32 q2, [q4, #12]",
            "vldrw.u32 q3, [q4, #36]",
            "cbz r3, 4f",
            "3:",
            "ldrd r4, r5, [r2], #8",
            "add r4, r4, r0",
            "add r5, r5, r0",
            "vldrb.u8 q4, [r4]",
            "vldrb.u8 q5, [r1], #16",
            "vmullb.s8 q6, q4, q5",
            "vmullt.s8 q4, q4, q5",
            "vldrb.u8 q5, [r5]",
            "vldrb.u8 q7, [r1]",
            "vmullb.s8 q7, q5, q7",
            "vadd.i16 q6, q6, q7",
            "vldrb.u8 q7, [r1], #16",
            "vmullt.s8 q5, q5, q7",
            "vadd.i16 q4, q4, q5",
            widen!(),
            "subs r3, r3, #1",
            "bne 3b",
            "4:",
            "ldr r4, [r10, #8]",
            "cbz r4, 5f",
            "ldr r4, [r2]",
            "add r4, r4, r0",
            "vldrb.u8 q4, [r4]",
            "vldrb.u8 q5, [r1], #16",
            "vmullb.s8 q6, q4, q5",
            "vmullt.s8 q4, q4, q5",
            widen!(),
            "5:",
            "add r4, r10, #12",
            "vldrw.u32 q4, [r4]",
            "vadd.i32 q4, q4, r11",
            requantize_at!("q0", "4", "8"),
            requantize_at!("q1", "28", "32"),
            requantize_at!("q2", "16", "20"),
            requantize_at!("q3", "40", "44"),
            "vqmovnb.s32 q0, q0",
            "vqmovnt.s32 q0, q1",
            "vqmovnb.s32 q2, q2",
            "vqmovnt.s32 q2, q3",
            "vqmovnb.s16 q0, q0",
            "vqmovnt.s16 q0, q2",
            "vstrb.8 q0, [r8], #16",
            "add r0, r0, #16",
            "add r11, r11, #192",
            "letp lr, 2b",
            in("r10") groups, inout("r0") image => _, inout("r1") weights => _, inout("r11") channels => _,
            inout("r8") output => _, inout("r12") count => _, in("r9") zero, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _,
            out("d7") _, out("d8") _, out("d9") _, out("d10") _, out("d11") _, out("d12") _, out("d13") _, out("d14") _,
            out("d15") _, options(nostack),
        );
    }
}
