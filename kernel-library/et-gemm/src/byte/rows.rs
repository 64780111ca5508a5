//! The rows of products of bytes: which instruction set has which tiles. Packing, computing, tests and benchmarks read it.
#![allow(unsafe_code, reason = "kernels are functions that need the instructions of their row")]

use super::dot::Dots;
use super::finish::{Finish, FinishKernel, RowScale};
use super::gather::{Gather, GatherKernel};
use super::quantize::QuantizeKernel;
use super::tile::{Tile, TileKernel, compute};
use crate::isa::Isa;

/// One row: the tile of an instruction set.
pub struct ByteRow {
    /// The instruction set.
    pub isa: Isa,
    /// Sums of a vector.
    pub lanes: usize,
    /// Vectors of a panel.
    pub vectors: usize,
    /// The most rows of a tile.
    pub height: usize,
    /// The most rows of a tile of matrix instructions; zero where there are none.
    pub matrix_height: usize,
    /// The bytes of a column of a panel are a multiple of it.
    pub depth: usize,
    /// What is added to weights when they are packed.
    pub offset: i32,
    /// The kernels; none on other processors.
    pub kernels: Option<&'static ByteKernels>,
}

/// The kernels of an instruction set.
pub struct ByteKernels {
    /// The tile for `rows - 1` and `vectors - 1`.
    pub tile: fn(usize, usize) -> Option<TileKernel>,
    /// Makes elements of the output.
    pub finish: FinishKernel,
    /// Adds up, and copies, the rows of a tile.
    pub gather: GatherKernel,
    /// Quantizes rows at run time.
    pub quantize: QuantizeKernel,
    /// What the tiles need.
    pub isa: Isa,
}

/// A row without matrix instructions.
const fn row(isa: Isa, size: [usize; 3], offset: i32, kernels: Option<&'static ByteKernels>) -> ByteRow {
    ByteRow { isa, lanes: size[0], vectors: size[1], height: size[2], matrix_height: 0, depth: 4, offset, kernels }
}

/// All rows: vectors of so many lanes, so many a panel, so many rows a tile.
pub static BYTE: [ByteRow; 8] = [
    row(Isa::Portable, [4, 2, 4], 0, portable_kernels!()),
    row(Isa::Avx2, [8, 2, 4], 0, x86!(avx2)),
    row(Isa::AvxVnni, [8, 2, 6], 128, avx_vnni_kernels!()),
    row(Isa::Avx512, [16, 2, 10], 0, x86!(avx512)),
    row(Isa::Avx512Vnni, [16, 2, 14], 128, x86!(avx512_vnni)),
    // Packed as for VNNI but for the depth, so that VNNI serves where the kernel refuses AMX.
    ByteRow { matrix_height: 32, depth: 64, ..row(Isa::Amx, [16, 2, 14], 128, x86!(avx512_vnni)) },
    row(Isa::Neon, [4, 4, 4], 0, arm!(neon)),
    row(Isa::NeonDot, [4, 4, 6], 0, arm!(neon_dot)),
];

impl ByteRow {
    /// The row that an instruction set uses.
    pub fn of(isa: Isa) -> &'static Self {
        &BYTE[match isa {
            Isa::Portable => 0,
            Isa::Avx2 => 1,
            Isa::AvxVnni => 2,
            Isa::Avx512 => 3,
            Isa::Avx512Vnni => 4,
            Isa::Amx => 5,
            Isa::Neon => 6,
            Isa::NeonDot | Isa::NeonI8mm => 7,
        }]
    }

    /// Columns of a panel.
    pub const fn width(&self) -> usize {
        self.lanes * self.vectors
    }
}

macro_rules! kernels {
    ($name:ident, $isa:ident, $dots:ty, $lanes:ty, $(#[$feature:meta])? [$($rows:literal)*] $vectors:tt) => {
        /// The kernels of one instruction set.
        mod $name {
            use super::*;

            $(#[$feature])?
            unsafe fn tile<const R: usize, const V: usize>(tile: &Tile) {
                // SAFETY: the caller's promise, which includes the processor.
                unsafe { compute::<$dots, R, V>(tile) }
            }

            $(#[$feature])?
            unsafe fn finish(finish: &Finish<'_>) {
                // SAFETY: the caller's promise, which includes the processor.
                unsafe { crate::byte::finish::compute::<$lanes>(finish) }
            }

            $(#[$feature])?
            unsafe fn gather(gather: &Gather) {
                // SAFETY: the caller's promise, which includes the processor.
                unsafe { crate::byte::gather::compute::<$dots>(gather) }
            }

            $(#[$feature])?
            unsafe fn quantize(rows: &[f32], length: usize, bytes: &mut [i8], scales: &mut [RowScale]) {
                crate::byte::quantize::compute(rows, length, bytes, scales);
            }

            fn kernel(rows: usize, vectors: usize) -> Option<TileKernel> {
                const KERNELS: &[&[TileKernel]] = &[$(kernels!(@row $rows $vectors)),*];
                KERNELS.get(rows)?.get(vectors).copied()
            }

            const _: () = assert!(<$dots as Dots>::LANES % <$lanes as crate::lanes::Lanes>::COUNT == 0);

            pub static KERNELS: ByteKernels =
                ByteKernels { tile: kernel, finish, gather, quantize, isa: Isa::$isa };
        }
    };
    (@row $rows:literal [$($vectors:literal)*]) => { &[$(tile::<$rows, $vectors>),*] };
}

macro_rules! x86 {
    ($name:ident) => {{
        #[cfg(target_arch = "x86_64")]
        let kernels = Some(&$name::KERNELS);
        #[cfg(not(target_arch = "x86_64"))]
        let kernels = None;
        kernels
    }};
}
use x86;

macro_rules! portable_kernels {
    () => {{
        #[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
        let kernels = Some(&portable::KERNELS);
        #[cfg(not(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64")))))]
        let kernels = None;
        kernels
    }};
}
use portable_kernels;

macro_rules! avx_vnni_kernels {
    () => {{
        #[cfg(all(target_arch = "x86_64", feature = "avx-vnni"))]
        let kernels = Some(&avx_vnni::KERNELS);
        #[cfg(not(all(target_arch = "x86_64", feature = "avx-vnni")))]
        let kernels = None;
        kernels
    }};
}
use avx_vnni_kernels;

macro_rules! arm {
    ($name:ident) => {{
        #[cfg(target_arch = "aarch64")]
        let kernels = Some(&$name::KERNELS);
        #[cfg(not(target_arch = "aarch64"))]
        let kernels = None;
        kernels
    }};
}
use arm;

#[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
kernels!(portable, Portable, super::super::dot::portable::Portable, crate::lanes::portable::Portable, [1 2 3 4] [1 2]);

#[cfg(target_arch = "x86_64")]
use super::dot_x86;
#[cfg(target_arch = "x86_64")]
kernels!(avx2, Avx2, dot_x86::Avx2, crate::lanes::avx2::Avx2,
    #[target_feature(enable = "avx2,fma")] [1 2 3 4] [1 2]);
#[cfg(all(target_arch = "x86_64", feature = "avx-vnni"))]
kernels!(avx_vnni, AvxVnni, dot_x86::AvxVnni, crate::lanes::avx2::Avx2,
    #[target_feature(enable = "avx2,fma,avxvnni")] [1 2 3 4 5 6] [1 2]);
#[cfg(target_arch = "x86_64")]
kernels!(avx512, Avx512, dot_x86::Avx512, crate::lanes::avx512::Avx512,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")] [1 2 3 4 5 6 7 8 9 10] [1 2]);
#[cfg(target_arch = "x86_64")]
kernels!(avx512_vnni, Avx512Vnni, dot_x86::Avx512Vnni, crate::lanes::avx512::Avx512,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    [1 2 3 4 5 6 7 8 9 10 11 12 13 14] [1 2]);

#[cfg(target_arch = "aarch64")]
use super::dot_arm;
#[cfg(target_arch = "aarch64")]
kernels!(neon, Neon, dot_arm::Neon, crate::lanes::neon::Neon, #[target_feature(enable = "neon")] [1 2 3 4] [1 2 3 4]);
#[cfg(target_arch = "aarch64")]
kernels!(neon_dot, NeonDot, dot_arm::NeonDot, crate::lanes::neon::Neon,
    #[target_feature(enable = "neon,dotprod")] [1 2 3 4 5 6] [1 2 3 4]);
