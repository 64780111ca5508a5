//! GEMM of int8 columns and panels of four channels, whose blocks have a product.

use core::arch::asm;

use super::super::{BLOCK_CHANNELS, Columns, Direct};
use crate::Channel;

/// The operands of the assembly, which reads the fields at these offsets.
#[repr(C)]
struct Panel {
    /// What the sums begin with: offset 0.
    biases: [i32; BLOCK_CHANNELS],
    /// The columns of two pixels: 16 and 20.
    first: *const i8,
    second: *const i8,
    /// The end of the groups of eight products, and of all, in the column of the first pixel: 24 and 28.
    groups_end: *const i8,
    end: *const i8,
    weights: *const i8,
    /// `2 * zero + 1`: 36.
    rounding: i32,
    /// The constants of the channels: 40.
    channels: *const Channel,
    /// Bytes between the results of pixels: 44.
    stride: usize,
}

/// A product of two pixels and four channels: 14 instructions for 8 products. r0 and r1 columns, r12 weights, r2 to r5 sums of the
/// first pixel, r6 to r9 of the second. `$at` follows the address of a column, `$weight` those of the weights.
macro_rules! of_two {
    ($at:literal, [$w0:literal, $w1:literal, $w2:literal, $w3:literal]) => {
        concat!(
            "ldrsb r11, [r0",
            $at,
            "\n ldrsb lr, [r1",
            $at,
            "\n",
            "ldrsb r10, [r12, #",
            $w0,
            "]\n mla r2, r11, r10, r2\n mla r6, lr, r10, r6\n",
            "ldrsb r10, [r12, #",
            $w1,
            "]\n mla r3, r11, r10, r3\n mla r7, lr, r10, r7\n",
            "ldrsb r10, [r12, #",
            $w2,
            "]\n mla r4, r11, r10, r4\n mla r8, lr, r10, r8\n",
            "ldrsb r10, [r12, #",
            $w3,
            "]\n mla r5, r11, r10, r5\n mla r9, lr, r10, r9\n",
        )
    };
}

/// The same for one pixel: 9 instructions for 4 products.
macro_rules! of_one {
    ($at:literal, [$w0:literal, $w1:literal, $w2:literal, $w3:literal]) => {
        concat!(
            "ldrsb r11, [r0",
            $at,
            "\n",
            "ldrsb r10, [r12, #",
            $w0,
            "]\n mla r2, r11, r10, r2\n",
            "ldrsb r10, [r12, #",
            $w1,
            "]\n mla r3, r11, r10, r3\n",
            "ldrsb r10, [r12, #",
            $w2,
            "]\n mla r4, r11, r10, r4\n",
            "ldrsb r10, [r12, #",
            $w3,
            "]\n mla r5, r11, r10, r5\n",
        )
    };
}

/// A product of one pixel and the eight channels of two panels: 17 instructions for 8 products. r12 and r1 weights, r2 to r9 sums.
macro_rules! of_panels {
    ($at:literal, [$w0:literal, $w1:literal, $w2:literal, $w3:literal]) => {
        concat!(
            of_one!($at, [$w0, $w1, $w2, $w3]),
            "ldrsb r10, [r1, #",
            $w0,
            "]\n mla r6, r11, r10, r6\n",
            "ldrsb r10, [r1, #",
            $w1,
            "]\n mla r7, r11, r10, r7\n",
            "ldrsb r10, [r1, #",
            $w2,
            "]\n mla r8, r11, r10, r8\n",
            "ldrsb r10, [r1, #",
            $w3,
            "]\n mla r9, r11, r10, r9\n",
        )
    };
}

/// All products: groups of eight, then single ones. The stack has the end of the groups and the end of all products.
macro_rules! all_products {
    ($product:ident, $second:literal, $second_single:literal) => {
        concat!(
            "ldr r10, [sp]\n cmp r0, r10\n beq 3f\n 2:\n",
            $product!("]", ["0", "1", "2", "3"]),
            $product!(", #1]", ["4", "5", "6", "7"]),
            $product!(", #2]", ["8", "9", "10", "11"]),
            $product!(", #3]", ["12", "13", "14", "15"]),
            $product!(", #4]", ["16", "17", "18", "19"]),
            $product!(", #5]", ["20", "21", "22", "23"]),
            $product!(", #6]", ["24", "25", "26", "27"]),
            $product!(", #7]", ["28", "29", "30", "31"]),
            "add r0, r0, #8\n add r12, r12, #32\n",
            $second,
            "\n ldr r10, [sp]\n cmp r0, r10\n bne 2b\n 3:\n",
            "ldr r10, [sp, #4]\n cmp r0, r10\n beq 5f\n 4:\n",
            $product!("], #1", ["0", "1", "2", "3"]),
            $second_single,
            "\n add r12, r12, #4\n ldr r10, [sp, #4]\n cmp r0, r10\n bne 4b\n 5:\n",
        )
    };
}

/// The results of sums of a channel, whose factor is at an offset from r1.
macro_rules! results {
    ($at:literal, $($sum:literal),+) => {
        concat!("ldrd r11, r12, [r1, #", $at, "]\n mvn r12, r12\n", $(requantize!("lsl", "1", $sum),)+)
    };
}

/// Runs assembly on a panel, r0. The stack has the end of the groups, the end of all products, the panel and the results. The compiler
/// reserves r6 and r7, which are saved here.
macro_rules! on_panel {
    ($panel:expr, $results:expr, $($text:expr,)*) => {
        asm!(
            "push {{r0, r1, r6, r7}}",
            "ldrd r10, r11, [r0, #24]",
            "push {{r10, r11}}",
            "ldm r0!, {{r2-r5}}",
            "ldr r12, [r0, #16]",
            "ldrd r0, r1, [r0]",
            $($text,)*
            "add sp, sp, #16",
            "pop {{r6, r7}}",
            inout("r0") $panel => _, inout("r1") $results => _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    };
}

impl Panel {
    /// A panel of the first pixels of columns, of which the weights are checked; `None` if they are too few.
    fn new(columns: &Columns<'_>, weights: &[i8], biases: [i32; BLOCK_CHANNELS]) -> Option<Self> {
        let (products, first) = (columns.products, columns.data.as_ptr());
        (weights.len() >= columns.panel_len() && columns.block == 1 && columns.len() > 0).then(|| Self {
            biases,
            first,
            second: first.wrapping_add(products),
            groups_end: first.wrapping_add(products / 8 * 8),
            end: first.wrapping_add(products),
            weights: weights.as_ptr(),
            rounding: 0,
            channels: core::ptr::null(),
            stride: 0,
        })
    }

    /// Goes on by some bytes of columns.
    const fn advance(&mut self, bytes: usize) {
        self.first = self.first.wrapping_add(bytes);
        self.second = self.second.wrapping_add(bytes);
        self.groups_end = self.groups_end.wrapping_add(bytes);
        self.end = self.end.wrapping_add(bytes);
    }
}

/// Computes the channels of whole panels for all pixels, whose results are `stride` elements apart.
pub fn panels_to_int8(
    columns: &Columns<'_>,
    weights: &[i8],
    channels: &[[Channel; BLOCK_CHANNELS]],
    direct: Direct,
    results: &mut [i8],
    stride: usize,
) {
    let pixels = columns.len();
    let mut panels = channels.iter().zip(weights.chunks_exact(columns.panel_len().max(1))).enumerate();
    while let Some((index, (constants, weights))) = panels.next() {
        let results = results.get_mut(index * BLOCK_CHANNELS..).unwrap_or_default();
        let fits = pixels.checked_sub(1).is_some_and(|last| results.len() >= last * stride + BLOCK_CHANNELS);
        let panel = Panel::new(columns, weights, constants.map(|channel| channel.bias)).filter(|_| fits);
        let Some(mut panel) = panel else { return };
        (panel.rounding, panel.channels, panel.stride) = (2 * direct.zero + 1, constants.as_ptr(), stride);
        let output = results.as_mut_ptr();
        // SAFETY: the panel has the weights of its products, and the operands have all pixels, as checked above; two panels of a pixel
        // lie one behind another.
        unsafe {
            for pair in 0..pixels / 2 {
                pair_to_int8(&raw const panel, output.wrapping_add(2 * pair * stride));
                panel.advance(2 * columns.products);
            }
            if pixels == 1 && results.len() >= 2 * BLOCK_CHANNELS && panels.next().is_some() {
                panel.second = weights.as_ptr().wrapping_add(weights.len());
                panels_of_pixel(&raw const panel, output);
            } else if pixels % 2 == 1 {
                let mut sums = [0; BLOCK_CHANNELS];
                sums_of_pixel(&raw const panel, sums.as_mut_ptr());
                let results = results.get_mut((pixels - 1) * stride..).unwrap_or_default();
                for ((result, sum), channel) in results.iter_mut().zip(sums).zip(constants) {
                    *result = channel.factor.apply(sum).wrapping_add(direct.zero).clamp(-128, 127) as i8;
                }
            }
        }
    }
}

/// The biases and the products of up to two pixels and the channels of a panel.
pub fn block_sums(columns: &Columns<'_>, weights: &[i8], biases: [i32; BLOCK_CHANNELS]) -> [[i32; BLOCK_CHANNELS]; 2] {
    let mut sums = [[0; BLOCK_CHANNELS]; 2];
    let Some(mut panel) = Panel::new(columns, weights, biases) else { return sums };
    for sums in sums.iter_mut().take(columns.len()) {
        // SAFETY: as above; `sums` has the sums of a pixel.
        unsafe { sums_of_pixel(&raw const panel, sums.as_mut_ptr()) }
        panel.advance(columns.products);
    }
    sums
}

/// The results of two pixels.
///
/// # Safety
/// The pointers of the panel are those of operands for all products and two pixels; `results` has four results of each.
#[inline(never)]
unsafe fn pair_to_int8(panel: *const Panel, results: *mut i8) {
    // SAFETY: the caller's promise; all registers are declared.
    unsafe {
        on_panel!(
            panel,
            results,
            "mov r6, r2",
            "mov r7, r3",
            "mov r8, r4",
            "mov r9, r5",
            all_products!(of_two, "add r1, r1, #8", ""),
            "ldr r0, [sp, #8]",
            "ldrd lr, r1, [r0, #36]",
            results!("4", "r2", "r6"),
            results!("16", "r3", "r7"),
            results!("28", "r4", "r8"),
            results!("40", "r5", "r9"),
            "ldr r1, [sp, #12]",
            "ldr r0, [r0, #44]",
            "strb r3, [r1, #1]",
            "strb r4, [r1, #2]",
            "strb r5, [r1, #3]",
            "strb r2, [r1]",
            "add r1, r1, r0",
            "strb r6, [r1]",
            "strb r7, [r1, #1]",
            "strb r8, [r1, #2]",
            "strb r9, [r1, #3]",
        );
    }
}

/// The results of a pixel for two panels, of which the weights of the second are in the place of the second column.
///
/// # Safety
/// As [`pair_to_int8`], for one pixel and the eight channels of two panels.
#[inline(never)]
unsafe fn panels_of_pixel(panel: *const Panel, results: *mut i8) {
    // SAFETY: the caller's promise; all registers are declared.
    unsafe {
        on_panel!(
            panel,
            results,
            "ldr r10, [sp, #8]",
            "ldr r10, [r10, #40]",
            "ldr r6, [r10, #48]",
            "ldr r7, [r10, #60]",
            "ldr r8, [r10, #72]",
            "ldr r9, [r10, #84]",
            all_products!(of_panels, "add r1, r1, #32", "add r1, r1, #4"),
            "ldr r0, [sp, #8]",
            "ldrd lr, r1, [r0, #36]",
            results!("4", "r2"),
            results!("16", "r3"),
            results!("28", "r4"),
            results!("40", "r5"),
            results!("52", "r6"),
            results!("64", "r7"),
            results!("76", "r8"),
            results!("88", "r9"),
            "ldr r1, [sp, #12]",
            "strb r2, [r1]",
            "strb r3, [r1, #1]",
            "strb r4, [r1, #2]",
            "strb r5, [r1, #3]",
            "strb r6, [r1, #4]",
            "strb r7, [r1, #5]",
            "strb r8, [r1, #6]",
            "strb r9, [r1, #7]",
        );
    }
}

/// The sums of a pixel.
///
/// # Safety
/// As [`pair_to_int8`], for one pixel; `results` has four integers.
#[inline(never)]
unsafe fn sums_of_pixel(panel: *const Panel, results: *mut i32) {
    // SAFETY: the caller's promise; all registers are declared.
    unsafe {
        on_panel!(panel, results, all_products!(of_one, "", ""), "ldr r0, [sp, #12]", "stm r0, {{r2-r5}}",);
    }
}
