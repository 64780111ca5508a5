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
    /// The kernels; none on other processors, and where they are not compiled.
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
    row(Isa::Portable, [4, 2, 4], 0, portable::KERNELS),
    row(Isa::Avx2, [8, 2, 4], 0, avx2::KERNELS),
    row(Isa::AvxVnni, [8, 2, 6], 128, avx_vnni::KERNELS),
    row(Isa::Avx512, [16, 2, 10], 0, avx512::KERNELS),
    row(Isa::Avx512Vnni, [16, 2, 14], 128, avx512_vnni::KERNELS),
    // Packed as for VNNI but for the depth, so that VNNI serves where the kernel refuses AMX.
    ByteRow { matrix_height: 32, depth: 64, ..row(Isa::Amx, [16, 2, 14], 128, avx512_vnni::KERNELS) },
    row(Isa::Neon, [4, 4, 4], 0, neon::KERNELS),
    row(Isa::NeonDot, [4, 4, 6], 0, neon_dot::KERNELS),
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
    ($name:ident, $condition:meta, $isa:ident, $dots:ty, $lanes:ty,
        $(#[$feature:meta])? [$($rows:literal)*] $vectors:tt) => {
        /// The kernels of one instruction set; none where they are not compiled.
        #[cfg(not($condition))]
        mod $name {
            pub const KERNELS: Option<&super::ByteKernels> = None;
        }
        #[cfg($condition)]
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

            pub const KERNELS: Option<&ByteKernels> =
                Some(&ByteKernels { tile: kernel, finish, gather, quantize, isa: Isa::$isa });
        }
    };
    (@row $rows:literal [$($vectors:literal)*]) => { &[$(tile::<$rows, $vectors>),*] };
}

kernels!(portable, all(feature = "byte", any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64")))),
    Portable, crate::byte::dot::portable::Portable, crate::lanes::portable::Portable, [1 2 3 4] [1 2]);
kernels!(avx2, all(feature = "byte", target_arch = "x86_64"),
    Avx2, crate::byte::dot_x86::Avx2, crate::lanes::avx2::Avx2,
    #[target_feature(enable = "avx2,fma")] [1 2 3 4] [1 2]);
kernels!(avx_vnni, all(feature = "byte", feature = "avx-vnni", target_arch = "x86_64"),
    AvxVnni, crate::byte::dot_x86::AvxVnni, crate::lanes::avx2::Avx2,
    #[target_feature(enable = "avx2,fma,avxvnni")] [1 2 3 4 5 6] [1 2]);
kernels!(avx512, all(feature = "byte", feature = "avx512-bytes", target_arch = "x86_64"),
    Avx512, crate::byte::dot_x86::Avx512, crate::lanes::avx512::Avx512,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")] [1 2 3 4 5 6 7 8 9 10] [1 2]);
kernels!(avx512_vnni, all(feature = "byte", target_arch = "x86_64"),
    Avx512Vnni, crate::byte::dot_x86::Avx512Vnni, crate::lanes::avx512::Avx512,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    [1 2 3 4 5 6 7 8 9 10 11 12 13 14] [1 2]);
kernels!(neon, all(feature = "byte", target_arch = "aarch64"),
    Neon, crate::byte::dot_arm::Neon, crate::lanes::neon::Neon,
    #[target_feature(enable = "neon")] [1 2 3 4] [1 2 3 4]);
kernels!(neon_dot, all(feature = "byte", target_arch = "aarch64"),
    NeonDot, crate::byte::dot_arm::NeonDot, crate::lanes::neon::Neon,
    #[target_feature(enable = "neon,dotprod")] [1 2 3 4 5 6] [1 2 3 4]);
