//! Two panels of a pixel: the columns of a linear layer are read half as often.

use core::arch::asm;

use super::super::{CHANNELS, MOST_PAIRS};

/// A pair of products of one pixel and both channels of a panel: r3 and r2 columns, r5 the next weights.
macro_rules! of_panel {
    ($load:literal, $even:literal, $both:literal) => {
        concat!(
            $load,
            "\n sxtb r4, r5\n muls r4, r3, r4\n add ",
            $even,
            ", r4\n",
            "sxth r4, r5\n muls r4, r3, r4\n add ",
            $both,
            ", r4\n",
            "asrs r5, r5, #16\n sxtb r4, r5\n muls r4, r2, r4\n add ",
            $even,
            ", r4\n",
            "muls r5, r2, r5\n add ",
            $both,
            ", r5\n",
        )
    };
}

/// A pair of products of one pixel and two panels: 29 instructions for 8 products.
macro_rules! of_panels {
    () => {
        concat!(
            "ldm r0!, {{r2}}\n sxth r3, r2\n asrs r2, r2, #16\n",
            of_panel!("ldr r5, [r1, r7]", "r10", "r11"),
            of_panel!("ldm r1!, {{r5}}", "r8", "r9"),
        )
    };
}

/// Adds the products of a pixel and the channels of two panels to the sums.
pub fn products_of_panels(tile: &[i16], weights: &[i8], sums: &mut [[i32; CHANNELS]; 2]) {
    let panel = weights.len() / 2;
    let all = (tile.len() / 2).min(panel / (2 * CHANNELS));
    for first in (0..all).step_by(MOST_PAIRS) {
        let pairs = (all - first).min(MOST_PAIRS);
        let tile = tile.as_ptr().wrapping_add(2 * first);
        let weights = weights.as_ptr().wrapping_add(2 * CHANNELS * first);
        let mut packed = [[0; CHANNELS]; 2];
        // SAFETY: both panels have `pairs` pairs from `first` on, of which there is one, and the tile too.
        unsafe { two_panels(tile, weights, pairs, panel, packed.as_mut_ptr().cast()) }
        for (sums, [even, both]) in sums.iter_mut().zip(packed) {
            sums[0] = sums[0].wrapping_add(even);
            sums[1] = sums[1].wrapping_add(both.wrapping_sub(even) >> 8);
        }
    }
}

/// The sums of two panels for a pixel: of the even channel and of the packed weights, panel by panel.
///
/// # Safety
/// `tile` has 4 bytes for each pair, of which there is one, aligned to 4; `weights` as many, and again `panel` bytes behind; `sums` four
/// integers.
#[inline(never)]
unsafe fn two_panels(tile: *const i16, weights: *const i8, pairs: usize, panel: usize, sums: *mut i32) {
    // r7 bytes of a panel, r12 end of the weights in groups of four pairs, lr end of all. The compiler reserves r6 and r7, which are
    // saved here.
    // SAFETY: the caller's promise; all other registers are declared.
    unsafe {
        asm!(
            "push {{r4, r6, r7}}",
            "mov r7, r3",
            "lsls r3, r2, #2",
            "adds r3, r1, r3",
            "mov lr, r3",
            "lsrs r3, r2, #2",
            "lsls r3, r3, #4",
            "adds r3, r1, r3",
            "mov r12, r3",
            "movs r2, #0",
            "mov r8, r2",
            "mov r9, r2",
            "mov r10, r2",
            "mov r11, r2",
            "b 3f",
            "2:",
            of_panels!(),
            of_panels!(),
            of_panels!(),
            of_panels!(),
            "3:",
            "cmp r1, r12",
            "bne 2b",
            "b 5f",
            "4:",
            of_panels!(),
            "5:",
            "cmp r1, lr",
            "bne 4b",
            "pop {{r4, r6, r7}}",
            "mov r0, r8",
            "mov r1, r9",
            "mov r2, r10",
            "mov r3, r11",
            "stm r4!, {{r0, r1, r2, r3}}",
            inout("r0") tile => _, inout("r1") weights => _, inout("r2") pairs => _, inout("r3") panel => _,
            inout("r4") sums => _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _,
            out("lr") _,
        );
    }
}
