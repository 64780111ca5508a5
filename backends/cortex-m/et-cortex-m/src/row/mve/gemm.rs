//! GEMM of int8 columns and a panel of four channels, whose blocks have 16 products.

use core::arch::asm;

use super::super::{BLOCK_CHANNELS, Columns, Direct};
use crate::Channel;

/// What the loops over pixels read in memory; the assembly knows the offsets.
#[repr(C)]
struct Panel {
    /// What the sums begin with: offset 0.
    biases: [i32; BLOCK_CHANNELS],
    /// The weights, and the whole blocks of products: 16 and 20.
    weights: *const i8,
    blocks: usize,
    /// The columns of the first two pixels: 24 and 28.
    first: *const i8,
    second: *const i8,
    /// The zero point of the results, and the bytes between pixels: 32 and 36.
    zero: i32,
    stride: usize,
    /// The products behind the last whole block, and all products: 40 and 44.
    tail: usize,
    products: usize,
    /// The first result of the pixel behind the last: 48.
    end: *mut i8,
    /// The factors: 52 and 68.
    multipliers: [i32; BLOCK_CHANNELS],
    shifts: [i32; BLOCK_CHANNELS],
}

/// The products of a vector of each of two pixels, q0 and q1, and the four channels of a block: 12 instructions for 128 products.
macro_rules! four_channels_of_two {
    () => {
        "vldrb.u8 q2, [r5], #16
        vldrb.u8 q5, [r5], #16
        vmladava.s8 r0, q0, q2
        vmladava.s8 r8, q1, q2
        vldrb.u8 q6, [r5], #16
        vmladava.s8 r2, q0, q5
        vmladava.s8 r10, q1, q5
        vldrb.u8 q7, [r5], #16
        vmladava.s8 r4, q0, q6
        vmladava.s8 r12, q1, q6
        vmladava.s8 r6, q0, q7
        vmladava.s8 lr, q1, q7
        "
    };
}

/// The same for one pixel, q0: 8 instructions for 64 products.
macro_rules! four_channels_of_one {
    () => {
        "vldrb.u8 q2, [r5], #16
        vldrb.u8 q5, [r5], #16
        vmladava.s8 r0, q0, q2
        vldrb.u8 q6, [r5], #16
        vmladava.s8 r2, q0, q5
        vldrb.u8 q7, [r5], #16
        vmladava.s8 r4, q0, q6
        vmladava.s8 r6, q0, q7
        "
    };
}

/// The sums of two pixels, r1 and r9: r0, r2, r4 and r6 of the first, r8, r10, r12 and lr of the second. r11 is the panel; r1 and r9
/// go to the end of the whole blocks.
macro_rules! sums_of_two {
    () => {
        concat!(
            "ldrd r5, r7, [r11, #16]\n ldm r11, {{r0, r2, r4, r6}}\n ldm r11, {{r8, r10, r12, lr}}\n cbz r7, 3f\n",
            "2:\n vldrb.u8 q0, [r1], #16\n vldrb.u8 q1, [r9], #16\n",
            four_channels_of_two!(),
            "subs r7, r7, #1\n bne 2b\n 3:\n",
            "ldr r7, [r11, #40]\n cbz r7, 4f\n",
            "vctp.8 r7\n vpstt\n vldrbt.u8 q0, [r1]\n vldrbt.u8 q1, [r9]\n",
            four_channels_of_two!(),
            "4:\n"
        )
    };
}

/// The sums of a pixel, r1: r0, r2, r4 and r6.
macro_rules! sums_of_one {
    () => {
        concat!(
            "ldrd r5, r7, [r11, #16]\n ldm r11, {{r0, r2, r4, r6}}\n cbz r7, 3f\n",
            "2:\n vldrb.u8 q0, [r1], #16\n",
            four_channels_of_one!(),
            "subs r7, r7, #1\n bne 2b\n 3:\n",
            "ldr r7, [r11, #40]\n cbz r7, 4f\n vctp.8 r7\n vpst\n vldrbt.u8 q0, [r1]\n",
            four_channels_of_one!(),
            "4:\n"
        )
    };
}

/// Runs assembly on a panel, whose address it finds in r11, with that of the results in r3. The compiler reserves r6 and r7, which are
/// saved here.
macro_rules! on_panel {
    ($panel:expr, $results:expr, $($text:expr,)*) => {
        asm!(
            "push {{r6, r7}}",
            $($text,)*
            "pop {{r6, r7}}",
            in("r11") $panel, inout("r3") $results => _, out("r0") _, out("r1") _, out("r2") _, out("r9") _, out("r4") _,
            out("r5") _, out("r8") _, out("r10") _, out("r12") _, out("lr") _, out("d0") _, out("d1") _, out("d2") _, out("d3") _,
            out("d4") _, out("d5") _, out("d6") _, out("d7") _, out("d8") _, out("d9") _, out("d10") _, out("d11") _,
            out("d12") _, out("d13") _, out("d14") _, out("d15") _,
        )
    };
}

impl Panel {
    /// A panel of columns, of which the weights are checked; `None` if they are too few.
    fn new(columns: &Columns<'_>, weights: &[i8]) -> Option<Self> {
        let products = columns.products;
        let first = columns.data.as_ptr();
        (weights.len() >= columns.panel_len() && columns.block == 16 && columns.len() > 0).then(|| Self {
            biases: [0; BLOCK_CHANNELS],
            weights: weights.as_ptr(),
            blocks: products / 16,
            first,
            second: first.wrapping_add(products),
            zero: 0,
            stride: 0,
            tail: products % 16,
            products,
            end: core::ptr::null_mut(),
            multipliers: [0; BLOCK_CHANNELS],
            shifts: [0; BLOCK_CHANNELS],
        })
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
    let (pixels, even) = (columns.len(), columns.len() / 2 * 2);
    let odd = columns.data.as_ptr().wrapping_add(even * columns.products);
    let panels = channels.iter().zip(weights.chunks_exact(columns.panel_len().max(1))).enumerate();
    for (index, (constants, weights)) in panels {
        let results = results.get_mut(index * BLOCK_CHANNELS..).unwrap_or_default();
        let fits = pixels.checked_sub(1).is_some_and(|last| results.len() >= last * stride + BLOCK_CHANNELS);
        let Some(mut panel) = Panel::new(columns, weights).filter(|_| fits) else { return };
        let output = results.as_mut_ptr();
        panel.biases = constants.map(|channel| channel.bias);
        panel.multipliers = constants.map(|channel| channel.factor.multiplier);
        panel.shifts = constants.map(|channel| channel.factor.shift);
        (panel.zero, panel.stride, panel.end) = (direct.zero, stride, output.wrapping_add(even * stride));
        // SAFETY: the panel has the weights of its products, and the operands have all pixels, as checked above.
        unsafe {
            if even > 0 {
                pairs_to_int8(&raw const panel, output);
            }
            if pixels > even {
                panel.first = odd;
                pixel_to_int8(&raw const panel, panel.end);
            }
        }
    }
}

/// The biases and the products of up to two pixels and the channels of a panel.
pub fn block_sums(columns: &Columns<'_>, weights: &[i8], biases: [i32; BLOCK_CHANNELS]) -> [[i32; BLOCK_CHANNELS]; 2] {
    let mut sums = [[0; BLOCK_CHANNELS]; 2];
    let Some(panel) = Panel::new(columns, weights) else { return sums };
    let panel = Panel { biases, ..panel };
    // SAFETY: as above; `sums` has the sums of two pixels.
    unsafe {
        if columns.len() == 1 {
            sums_of_pixel(&raw const panel, sums.as_mut_ptr().cast());
        } else {
            sums_of_pair(&raw const panel, sums.as_mut_ptr().cast());
        }
    }
    sums
}

/// The results of pairs of pixels: 31 instructions for 8 results, and 16 for each block.
///
/// # Safety
/// The pointers of the panel are those of operands for all products and an even number of pixels, of which there are two.
#[inline(never)]
unsafe fn pairs_to_int8(panel: *const Panel, results: *mut i8) {
    // q3 and q4 multipliers and shifts, r3 output.
    // SAFETY: the caller's promise; all registers are declared.
    unsafe {
        on_panel!(
            panel,
            results,
            "add r5, r11, #52",
            "vldrw.u32 q3, [r5]",
            "vldrw.u32 q4, [r5, #16]",
            "ldrd r1, r9, [r11, #24]",
            "1:",
            sums_of_two!(),
            "vmov q0[2], q0[0], r0, r4",
            "vmov q0[3], q0[1], r2, r6",
            "vmov q1[2], q1[0], r8, r12",
            "vmov q1[3], q1[1], r10, lr",
            "ldrd r0, r2, [r11, #32]",
            "ldrd r4, r6, [r11, #40]",
            requantize!("q0", "q2", "q3", "q4", "r0"),
            requantize!("q1", "q5", "q3", "q4", "r0"),
            "vqmovnb.s32 q0, q0",
            "vqmovnb.s32 q1, q1",
            "vqmovnb.s16 q0, q0",
            "vqmovnb.s16 q1, q1",
            "vstrb.32 q0, [r3]",
            "add r3, r3, r2",
            "vstrb.32 q1, [r3]",
            "add r3, r3, r2",
            // The columns of the next pixels.
            "add r1, r9, r4",
            "add r9, r1, r6",
            "ldr r5, [r11, #48]",
            "cmp r3, r5",
            "bne 1b",
        );
    }
}

/// The results of a pixel.
///
/// # Safety
/// As [`pairs_to_int8`], for one pixel.
#[inline(never)]
unsafe fn pixel_to_int8(panel: *const Panel, results: *mut i8) {
    // SAFETY: the caller's promise; all registers are declared.
    unsafe {
        on_panel!(
            panel,
            results,
            "ldr r1, [r11, #24]",
            sums_of_one!(),
            "vmov q0[2], q0[0], r0, r4",
            "vmov q0[3], q0[1], r2, r6",
            "add r5, r11, #52",
            "vldrw.u32 q3, [r5]",
            "vldrw.u32 q4, [r5, #16]",
            "ldr r0, [r11, #32]",
            requantize!("q0", "q2", "q3", "q4", "r0"),
            "vqmovnb.s32 q0, q0",
            "vqmovnb.s16 q0, q0",
            "vstrb.32 q0, [r3]",
        );
    }
}

/// The sums of two pixels.
///
/// # Safety
/// As [`pairs_to_int8`], for two pixels; `results` has eight integers.
#[inline(never)]
unsafe fn sums_of_pair(panel: *const Panel, results: *mut i32) {
    // SAFETY: the caller's promise; all registers are declared.
    unsafe {
        on_panel!(
            panel,
            results,
            "ldrd r1, r9, [r11, #24]",
            sums_of_two!(),
            "strd r0, r2, [r3]",
            "strd r4, r6, [r3, #8]",
            "strd r8, r10, [r3, #16]",
            "strd r12, lr, [r3, #24]",
        );
    }
}

/// The sums of a pixel.
///
/// # Safety
/// As [`pairs_to_int8`], for one pixel; `results` has four integers.
#[inline(never)]
unsafe fn sums_of_pixel(panel: *const Panel, results: *mut i32) {
    // SAFETY: the caller's promise; all registers are declared.
    unsafe {
        on_panel!(panel, results, "ldr r1, [r11, #24]", sums_of_one!(), "strd r0, r2, [r3]", "strd r4, r6, [r3, #8]",);
    }
}
