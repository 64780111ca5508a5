//! The table of int8 and int4 GEMM kernels, a row per ISA. Computing, tests and benchmarks read this table.
#![allow(unsafe_code, reason = "kernels are functions that need the instructions of their row")]

use et_simd::{GemmDot, Isa};

use crate::int4::scale::{HalfScales, ScaleForm, Scales, StepScales};
use crate::int4::tile::{Tile as Int4Tile, TileKernel as Int4TileKernel};
use crate::int8::finish::{Finish, FinishKernel, RowScale};
use crate::int8::gather::{Gather, GatherKernel};
use crate::int8::quantize::QuantizeKernel;
use crate::int8::tile::{Tile as Int8Tile, TileKernel as Int8TileKernel};

/// The int8 and int4 kernels of an ISA.
pub struct KernelRow {
    /// The instruction set.
    pub isa: Isa,
    /// Accumulators per vector.
    pub lanes: usize,
    /// The int8 GEMM: a micro-kernel has all vectors of a panel.
    pub int8: Int8Row,
    /// The blockwise int4 GEMM.
    pub int4: Int4Row,
}

/// The int8 kernels of an ISA.
#[derive(Clone, Copy)]
pub struct Int8Row {
    /// Vectors per panel.
    pub vectors: usize,
    /// MR: the maximum number of rows per micro-kernel.
    pub height: usize,
    /// The maximum number of rows per tile of a small M: a multiple of MR, or the rows of an AMX tile.
    pub tile_rows: usize,
    /// The kernels; `None` on foreign architectures or if compiled out.
    pub kernels: Option<&'static Int8Kernels>,
}

/// The int4 kernels of an ISA.
#[derive(Clone, Copy)]
pub struct Int4Row {
    /// The maximum number of vectors per micro-kernel.
    pub vectors: usize,
    /// MR: the maximum number of rows per micro-kernel.
    pub height: usize,
    /// The kernels; `None` on foreign architectures or if compiled out.
    pub kernels: Option<Int4Kernels>,
}

/// The int4 micro-kernel for a scale format, `rows - 1` and `vectors - 1`.
pub type Int4Kernels = fn(Scales, usize, usize) -> Option<Int4TileKernel>;

/// The functions of an int8 row.
pub struct Int8Kernels {
    /// The micro-kernel for `rows - 1` and `vectors - 1`.
    pub tile: fn(usize, usize) -> Option<Int8TileKernel>,
    /// The epilogue.
    pub finish: FinishKernel,
    /// LHS packing and row sums.
    pub gather: GatherKernel,
    /// Dynamic quantization of rows.
    pub quantize: QuantizeKernel,
}

impl KernelRow {
    /// The row for an ISA: of the ISA, or of the newest ISA that the ISA extends.
    pub fn of(isa: Isa) -> &'static Self {
        let row = |isa| KERNELS.iter().find(|row| row.isa == isa);
        isa.with_bases().find_map(row).unwrap_or(&KERNELS[0])
    }

    /// Columns per int4 micro-kernel.
    pub const fn int4_columns(&self) -> usize {
        self.lanes * self.int4.vectors
    }

    /// Whether the int8 micro-kernel is AMX's.
    pub fn is_matrix(&self) -> bool {
        self.isa == Isa::Amx
    }
}

/// Every row.
pub static KERNELS: [KernelRow; 8] = [
    portable::ROW,
    avx2::ROW,
    avx_vnni::ROW,
    avx512_vnni::ROW,
    // The VNNI kernels compute the rows and columns that fill no AMX tile.
    KernelRow { isa: Isa::Amx, int8: Int8Row { tile_rows: 32, ..avx512_vnni::ROW.int8 }, ..avx512_vnni::ROW },
    neon::ROW,
    neon_dot::ROW,
    neon_i8mm::ROW,
];

/// Declares a row: ISA, condition of the target, accumulators per vector, dot product, `f32` vector, then for int8 and int4
/// the rows and vectors of the micro-kernels.
macro_rules! kernels {
    ($name:ident, $isa:ident, $target:meta, $lanes:literal, $dots:ty, $real:ty, $(#[$feature:meta])?
        int8 [$($rows:literal)*] $vectors:tt tile $tile:literal,
        int4 [$($int4_rows:literal)*] $int4_vectors:tt) => {
        mod $name {
            use super::*;

            pub const ROW: KernelRow = KernelRow {
                isa: Isa::$isa,
                lanes: $lanes,
                int8: Int8Row {
                    vectors: kernels!(@count $vectors),
                    height: [$($rows),*].len(),
                    tile_rows: $tile,
                    kernels: INT8,
                },
                int4: Int4Row {
                    vectors: kernels!(@count $int4_vectors),
                    height: [$($int4_rows),*].len(),
                    kernels: INT4,
                },
            };

            #[cfg(not(all(feature = "int8", $target)))]
            const INT8: Option<&Int8Kernels> = None;
            #[cfg(all(feature = "int8", $target))]
            const INT8: Option<&Int8Kernels> = {
                const _: () = assert!(<$dots as GemmDot>::LANES == $lanes);

                $(#[$feature])?
                unsafe fn compute<const R: usize, const V: usize>(tile: &Int8Tile) {
                    // SAFETY: the caller guarantees the contract of the argument and that the CPU has this row's ISA.
                    unsafe { crate::int8::tile::compute::<$dots, R, V>(tile) }
                }

                $(#[$feature])?
                unsafe fn finish(finish: &Finish) {
                    // SAFETY: the caller guarantees the contract of the argument and that the CPU has this row's ISA.
                    unsafe { crate::int8::finish::compute::<$real>(finish) }
                }

                $(#[$feature])?
                unsafe fn gather(gather: &Gather) {
                    // SAFETY: the caller guarantees the contract of the argument and that the CPU has this row's ISA.
                    unsafe { crate::int8::gather::compute::<$dots>(gather) }
                }

                $(#[$feature])?
                unsafe fn quantize(rows: &[f32], length: usize, bytes: &mut [i8], scales: &mut [RowScale]) {
                    crate::int8::quantize::compute(rows, length, bytes, scales);
                }

                fn tile(rows: usize, vectors: usize) -> Option<Int8TileKernel> {
                    const TILES: &[&[Int8TileKernel]] = &[$(kernels!(@tiles compute, $rows $vectors)),*];
                    TILES.get(rows)?.get(vectors).copied()
                }

                Some(&Int8Kernels { tile, finish, gather, quantize })
            };

            #[cfg(not(all(feature = "int4", $target)))]
            const INT4: Option<Int4Kernels> = None;
            #[cfg(all(feature = "int4", $target))]
            const INT4: Option<Int4Kernels> = {
                $(#[$feature])?
                unsafe fn compute<F: ScaleForm, const R: usize, const V: usize>(tile: &Int4Tile) {
                    // SAFETY: the caller guarantees the contract of `Tile` and that the CPU has this row's ISA.
                    unsafe { crate::int4::tile::compute::<$dots, F, R, V>(tile) }
                }

                fn tile(scales: Scales, rows: usize, vectors: usize) -> Option<Int4TileKernel> {
                    const HALVES: &[&[Int4TileKernel]] =
                        &[$(kernels!(@tiles compute, HalfScales, $int4_rows $int4_vectors)),*];
                    const STEPS: &[&[Int4TileKernel]] =
                        &[$(kernels!(@tiles compute, StepScales, $int4_rows $int4_vectors)),*];
                    let tiles = match scales {
                        Scales::Halves => HALVES,
                        Scales::Steps => STEPS,
                    };
                    tiles.get(rows)?.get(vectors).copied()
                }

                Some(tile)
            };
        }
    };
    (@count [$($vectors:literal)*]) => { [$($vectors),*].len() };
    (@tiles $compute:ident, $form:ident, $rows:literal [$($vectors:literal)*]) => {
        &[$($compute::<$form, $rows, $vectors>),*]
    };
    (@tiles $compute:ident, $rows:literal [$($vectors:literal)*]) => { &[$($compute::<$rows, $vectors>),*] };
}

kernels!(portable, Portable, any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))),
    4, et_simd::Portable, et_simd::Portable,
    int8 [1 2 3 4] [1 2] tile 4, int4 [1 2 3 4] [1 2]);
kernels!(avx2, Avx2, target_arch = "x86_64", 8, et_simd::Avx2, et_simd::Avx2,
    #[target_feature(enable = "avx2,fma,f16c")]
    int8 [1 2] [1 2 3 4] tile 4, int4 [1 2 3] [1]);
kernels!(avx_vnni, AvxVnni, target_arch = "x86_64", 8, et_simd::AvxVnni, et_simd::Avx2,
    #[target_feature(enable = "avx2,fma,f16c,avxvnni")]
    int8 [1 2 3] [1 2 3 4] tile 6, int4 [1 2 3 4] [1]);
kernels!(avx512_vnni, Avx512Vnni, target_arch = "x86_64",
    16, et_simd::Avx512Vnni, et_simd::Avx512,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    int8 [1 2 3 4 5 6 7 8 9 10 11 12 13 14] [1 2] tile 14, int4 [1 2 3 4 5 6] [1 2]);
kernels!(neon, Neon, target_arch = "aarch64", 4, et_simd::Neon, et_simd::Neon,
    #[target_feature(enable = "neon")]
    int8 [1 2 3 4] [1 2 3 4] tile 4, int4 [1 2 3 4] [1 2]);
kernels!(neon_dot, NeonDot, target_arch = "aarch64",
    4, et_simd::NeonDot<false>, et_simd::Neon,
    #[target_feature(enable = "neon,dotprod")]
    int8 [1 2 3 4 5 6] [1 2 3 4] tile 6, int4 [1 2 3 4] [1 2]);
kernels!(neon_i8mm, NeonI8mm, target_arch = "aarch64",
    4, et_simd::NeonDot<true>, et_simd::Neon,
    #[target_feature(enable = "neon,dotprod,i8mm")]
    int8 [1 2 3 4 5 6] [1 2 3 4] tile 6, int4 [1 2 3 4] [1 2]);
