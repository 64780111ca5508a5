//! The parts that loops over panels of two channels share, whatever the integers of weights and columns.

use crate::row::CHANNELS;

/// What a loop over panels reads, and changes, in memory: constants of channels `C`, results `O`.
#[repr(C)]
pub struct Panels<C, O> {
    weights: *const i8,
    tile: *const i16,
    /// The end of the groups of eight pairs.
    groups_end: *const i16,
    end: *const i16,
    channels: *const C,
    output: *mut O,
    /// Bytes between pixels.
    stride: usize,
    panels: usize,
    /// What requantization needs of the layer.
    rule: u32,
}

impl<C, O> Panels<C, O> {
    /// The panels of a tile of `P` pixels; `None` for a tile without panels, and for operands that are too short.
    #[inline(always)]
    pub fn of<const P: usize>(
        (tile, weights): (&[i16], &[i8]),
        channels: &[C],
        output: &mut [O],
        rule: u32,
    ) -> Option<Self> {
        let (pairs, panels) = (tile.len() / (2 * P), channels.len() / CHANNELS);
        let fits = weights.len() >= 2 * CHANNELS * pairs * panels && output.len() >= P * channels.len();
        (pairs > 0 && panels > 0 && fits).then(|| Self {
            weights: weights.as_ptr(),
            tile: tile.as_ptr(),
            groups_end: tile.as_ptr().wrapping_add(pairs / 8 * 8 * 2 * P),
            end: tile.as_ptr().wrapping_add(pairs * 2 * P),
            channels: channels.as_ptr(),
            output: output.as_mut_ptr(),
            stride: channels.len() * size_of::<O>(),
            panels,
            rule,
        })
    }
}

/// The sums of a panel, by lines that pop r3, or the word at the place of r3, then r6 and r7: r0 tile, r1 weights, r2 pairs, r3 sums.
macro_rules! panel {
    ([$tile:ident, $weights:ident, $pairs:ident, $sums:ident], { $($lines:tt)* }) => {
        core::arch::asm!(
            "push {{r3, r6, r7}}",
            $($lines)*
            inout("r0") $tile => _, inout("r1") $weights => _, inout("r2") $pairs => _, inout("r3") $sums => _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    };
}

/// All pairs of a panel for four pixels: groups of pairs, `$group`, then single pairs, `$pair`. The stack has the end of the groups and the
/// end of all pairs, at these offsets. r0 tile; r12 is free.
macro_rules! all_pairs {
    ($pair:expr, $group:expr, $groups_end:literal, $end:literal) => {
        concat!(
            "ldr r12, [sp, #",
            $groups_end,
            "]\n cmp r0, r12\n beq 3f\n 2:\n",
            $group,
            "ldr r12, [sp, #",
            $groups_end,
            "]\n cmp r0, r12\n bne 2b\n 3:\n",
            "ldr r12, [sp, #",
            $end,
            "]\n cmp r0, r12\n beq 5f\n 4:\n",
            $pair,
            "ldr r12, [sp, #",
            $end,
            "]\n cmp r0, r12\n bne 4b\n 5:\n"
        )
    };
}

/// The sums of four pixels, r2 to r9, begin with those of the first, r2 and r3.
macro_rules! begin_pixels {
    () => {
        "mov r4, r2
        mov r5, r3
        mov r6, r2
        mov r7, r3
        mov r8, r2
        mov r9, r3
        "
    };
}

/// Stores the int8 results r2 to r9 of four pixels and two channels: r0 output, r11 the bytes between pixels.
macro_rules! store_bytes {
    () => {
        "bfi r2, r3, #8, #8
        bfi r4, r5, #8, #8
        bfi r6, r7, #8, #8
        bfi r8, r9, #8, #8
        strh r2, [r0]
        strh r4, [r0, r11]
        strh r6, [r0, r11, lsl #1]
        add r0, r0, r11
        strh r8, [r0, r11, lsl #1]
        "
    };
}
