//! Helium, the vector extension of Armv8.1-M: 16 products of int8 in an instruction.
#![allow(unsafe_code, reason = "inline assembly; the lengths are checked before the loops")]

/// A vector of sums as int8 in the lowest bytes of its lanes, after TensorFlow Lite's rule for factors below 1/2: `$sums`, a scratch
/// register, multipliers, shifts and the zero point.
macro_rules! requantize {
    ($sums:literal, $scratch:literal, $multipliers:literal, $shifts:literal, $zero:literal) => {
        concat!(
            "vqrdmulh.s32 ",
            $sums,
            ", ",
            $sums,
            ", ",
            $multipliers,
            "\n",
            // Halves of negative numbers go down.
            "vshr.s32 ",
            $scratch,
            ", ",
            $sums,
            ", #31\n",
            "vadd.i32 ",
            $sums,
            ", ",
            $sums,
            ", ",
            $scratch,
            "\n",
            "vrshl.s32 ",
            $sums,
            ", ",
            $sums,
            ", ",
            $shifts,
            "\n",
            "vadd.i32 ",
            $sums,
            ", ",
            $sums,
            ", ",
            $zero,
            "\n",
        )
    };
}

mod depthwise;
mod gemm;
mod sum;

use core::arch::asm;

pub use depthwise::depthwise_pixel;
pub use gemm::{block_sums, panels_to_int8};
pub use sum::add;

/// Whether [`depthwise_pixel`] exists in this row.
pub const IS_DEPTHWISE_DIRECT: bool = true;

/// Whether [`panels_to_int8`] exists in this row.
pub const ARE_BLOCKS_DIRECT: bool = true;

/// Fills `to` with rows of `len` elements, which are `stride` elements apart in `from`; nothing where `from` has too few.
#[inline]
pub fn copy_rows(from: &[i8], stride: usize, to: &mut [i8], len: usize) {
    let rows = to.len() / len.max(1);
    if rows == 0 || len == 0 || from.len() < (rows - 1) * stride + len {
        return;
    }
    // SAFETY: both operands have all rows; loads and stores of a loop with tail predication touch no other elements.
    unsafe {
        asm!(
            "2:",
            "mov {source}, {from}",
            "mov {target}, {to}",
            "wlstp.8 lr, {len}, 4f",
            "3:",
            "vldrb.u8 q0, [{source}], #16",
            "vstrb.8 q0, [{target}], #16",
            "letp lr, 3b",
            "4:",
            "add {from}, {from}, {stride}",
            "add {to}, {to}, {len}",
            "subs {rows}, {rows}, #1",
            "bne 2b",
            source = out(reg) _, target = out(reg) _, from = inout(reg) from.as_ptr() => _,
            to = inout(reg) to.as_mut_ptr() => _, len = in(reg) len, stride = in(reg) stride, rows = inout(reg) rows => _,
            out("lr") _, out("d0") _, out("d1") _, options(nostack),
        );
    }
}
