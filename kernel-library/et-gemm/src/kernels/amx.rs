//! int8 micro-kernels with AMX: tiles of 32 rows x 32 columns.
//!
//! The instructions have no stable intrinsics, so the kernels are inline assembly. The operating system grants the
//! tile registers when [`et_simd::Isa::is_available`] asks for AMX.
#![allow(unsafe_code, reason = "instructions are written out, and matrices are read and written by pointer")]

use core::arch::asm;

/// Rows of a tile register.
pub const ROWS: usize = 16;

/// Bytes of a row of a tile register.
pub const DEPTH: usize = 64;

/// Guard for the configured tile registers of this thread: dropping the guard releases the registers.
pub struct Tiles(());

impl Tiles {
    /// Configures registers 0 to 3 as accumulators, 4 and 5 as sixteen rows of A with `depth` bytes each (at most 64, a
    /// multiple of four), and 6 and 7 as `depth` elements of sixteen columns of B.
    ///
    /// # Safety
    ///
    /// [`et_simd::Isa::Amx`] is available.
    pub unsafe fn configure(depth: usize) -> Self {
        let mut configuration = [0u8; 64];
        configuration[0] = 1;
        for register in 0..8 {
            configuration[16 + 2 * register] = if matches!(register, 4 | 5) { depth as u8 } else { DEPTH as u8 };
            configuration[48 + register] = if register < 6 { ROWS as u8 } else { (depth / 4) as u8 };
        }
        // SAFETY: the caller guarantees AMX; the configuration is 64 bytes of palette 1.
        unsafe { asm!("ldtilecfg [{}]", in(reg) configuration.as_ptr(), options(nostack, readonly)) };
        Self(())
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: `configure` ran on this thread.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }
}

/// Arguments of an AMX micro-kernel.
///
/// # Safety
///
/// `rows` has sixteen rows for each A register, `row_stride` bytes apart, each of `blocks` times 64 bytes; `panel` has
/// sixteen packed rows per 64-byte K block and vector; `sums` has room for sixteen accumulator rows per register,
/// `stride` apart.
pub struct Tile {
    /// The rows of A.
    pub rows: *const i8,
    /// Bytes from a row to the next.
    pub row_stride: usize,
    /// K blocks of 64 bytes per row.
    pub blocks: usize,
    /// The packed weights of the panel.
    pub panel: *const u8,
    /// The accumulators.
    pub sums: *mut i32,
    /// Row stride of the accumulators, in elements.
    pub stride: usize,
}

macro_rules! tile {
    ($name:ident, $vectors:literal, [$($zero:literal)*] [$($body:literal)*] [$($end:literal)*]) => {
        unsafe fn $name(tile: &Tile) {
            // SAFETY: the caller guarantees configured registers and the contract of `Tile`.
            unsafe {
                asm!(
                    $($zero,)*
                    // The loop begins four bytes before a cache line: at the start of a line, a GEMM of 197 x 768 x 768 took
                    // 1.15 to 1.2 times as long on an Intel Xeon with AMX.
                    ".p2align 6",
                    ".nops 60",
                    "2:",
                    $($body,)*
                    "add {low}, 64",
                    "add {high}, 64",
                    concat!("add {panel}, 16 * 64 * ", $vectors),
                    "dec {blocks}",
                    "jnz 2b",
                    $($end,)*
                    low = inout(reg) tile.rows => _,
                    high = inout(reg) tile.rows.wrapping_add(ROWS * tile.row_stride) => _,
                    row_stride = in(reg) tile.row_stride,
                    panel = inout(reg) tile.panel => _,
                    panel_stride = in(reg) 64usize * $vectors,
                    blocks = inout(reg) tile.blocks => _,
                    sums = in(reg) tile.sums,
                    below = in(reg) tile.sums.wrapping_add(ROWS * tile.stride),
                    stride = in(reg) 4 * tile.stride,
                    options(nostack)
                );
            }
        }
    };
}

tile!(two_by_two, 2, ["tilezero tmm0" "tilezero tmm1" "tilezero tmm2" "tilezero tmm3"] [
    "tileloadd tmm4, [{low} + {row_stride}]"
    "tileloadd tmm6, [{panel} + {panel_stride}]"
    "tdpbsud tmm0, tmm4, tmm6"
    "tileloadd tmm7, [{panel} + {panel_stride} + 64]"
    "tdpbsud tmm1, tmm4, tmm7"
    "tileloadd tmm5, [{high} + {row_stride}]"
    "tdpbsud tmm2, tmm5, tmm6"
    "tdpbsud tmm3, tmm5, tmm7"
] [
    "tilestored [{sums} + {stride}], tmm0"
    "tilestored [{sums} + {stride} + 64], tmm1"
    "tilestored [{below} + {stride}], tmm2"
    "tilestored [{below} + {stride} + 64], tmm3"
]);

tile!(two_by_one, 1, ["tilezero tmm0" "tilezero tmm2"] [
    "tileloadd tmm4, [{low} + {row_stride}]"
    "tileloadd tmm6, [{panel} + {panel_stride}]"
    "tdpbsud tmm0, tmm4, tmm6"
    "tileloadd tmm5, [{high} + {row_stride}]"
    "tdpbsud tmm2, tmm5, tmm6"
] ["tilestored [{sums} + {stride}], tmm0" "tilestored [{below} + {stride}], tmm2"]);

tile!(one_by_two, 2, ["tilezero tmm0" "tilezero tmm1"] [
    "tileloadd tmm4, [{low} + {row_stride}]"
    "tileloadd tmm6, [{panel} + {panel_stride}]"
    "tdpbsud tmm0, tmm4, tmm6"
    "tileloadd tmm7, [{panel} + {panel_stride} + 64]"
    "tdpbsud tmm1, tmm4, tmm7"
] [
    "tilestored [{sums} + {stride}], tmm0"
    "tilestored [{sums} + {stride} + 64], tmm1"
    "/* {below} */"
]);

tile!(one_by_one, 1, ["tilezero tmm0"] [
    "tileloadd tmm4, [{low} + {row_stride}]"
    "tileloadd tmm6, [{panel} + {panel_stride}]"
    "tdpbsud tmm0, tmm4, tmm6"
] ["tilestored [{sums} + {stride}], tmm0" "/* {below} */"]);

/// Computes an accumulator tile of `rows` rows, at most 32, and `vectors` vectors, one or two.
///
/// # Safety
///
/// The tile registers of this thread are configured, and the contract of [`Tile`] holds.
pub unsafe fn compute(tile: &Tile, rows: usize, vectors: usize) {
    // SAFETY: the caller upholds the contract of this function.
    unsafe {
        match (rows > ROWS, vectors > 1) {
            (true, true) => two_by_two(tile),
            (true, false) => two_by_one(tile),
            (false, true) => one_by_two(tile),
            (false, false) => one_by_one(tile),
        }
    }
}
