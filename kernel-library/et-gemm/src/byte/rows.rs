//! Kernel configurations of the int8 GEMM, a row per ISA. Packing, computing, tests and benchmarks read this table.
#![allow(unsafe_code, reason = "kernels are functions that need the instructions of their row")]

use super::dot::Dots;
use super::finish::{Finish, FinishKernel, RowScale};
use super::gather::{Gather, GatherKernel};
use super::quantize::QuantizeKernel;
use super::tile::{Tile, TileKernel, compute};
use crate::isa::Isa;

/// The kernel configuration of an ISA.
pub struct ByteRow {
    /// The instruction set.
    pub isa: Isa,
    /// Accumulators per vector.
    pub lanes: usize,
    /// Vectors per panel.
    pub vectors: usize,
    /// MR: the maximum number of rows per micro-kernel.
    pub height: usize,
    /// The maximum number of rows of an AMX tile; zero without AMX.
    pub matrix_height: usize,
    /// K alignment of packed columns in bytes (KR).
    pub depth: usize,
    /// Offset of the packed weights: 128 for u8 x i8 dot products, otherwise 0.
    pub offset: i32,
    /// The kernels; `None` on foreign architectures or if compiled out.
    pub kernels: Option<&'static ByteKernels>,
}

/// The kernels of an ISA.
pub struct ByteKernels {
    /// The micro-kernel for `rows - 1` and `vectors - 1`.
    pub tile: fn(usize, usize) -> Option<TileKernel>,
    /// The epilogue.
    pub finish: FinishKernel,
    /// LHS packing and row sums.
    pub gather: GatherKernel,
    /// Dynamic quantization of rows.
    pub quantize: QuantizeKernel,
    /// The ISA that the kernels require.
    pub isa: Isa,
}

/// A configuration without AMX.
const fn row(isa: Isa, size: [usize; 3], offset: i32, kernels: Option<&'static ByteKernels>) -> ByteRow {
    ByteRow { isa, lanes: size[0], vectors: size[1], height: size[2], matrix_height: 0, depth: 4, offset, kernels }
}

/// Every configuration: lanes per vector, vectors per panel, rows per tile.
pub static BYTE: [ByteRow; 8] = [
    row(Isa::Portable, [4, 2, 4], 0, portable::KERNELS),
    row(Isa::Avx2, [8, 2, 4], 0, avx2::KERNELS),
    row(Isa::AvxVnni, [8, 2, 6], 128, avx_vnni::KERNELS),
    row(Isa::Avx512, [16, 2, 10], 0, avx512::KERNELS),
    row(Isa::Avx512Vnni, [16, 2, 14], 128, avx512_vnni::KERNELS),
    // AMX shares the VNNI packing except for the K alignment, so that the VNNI kernels serve where the operating system
    // refuses AMX.
    ByteRow { matrix_height: 32, depth: 64, ..row(Isa::Amx, [16, 2, 14], 128, avx512_vnni::KERNELS) },
    row(Isa::Neon, [4, 4, 4], 0, neon::KERNELS),
    row(Isa::NeonDot, [4, 4, 6], 0, neon_dot::KERNELS),
];

impl ByteRow {
    /// The configuration for an ISA.
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

    /// NR: columns per panel.
    pub const fn width(&self) -> usize {
        self.lanes * self.vectors
    }
}

macro_rules! kernels {
    ($name:ident, $condition:meta, $isa:ident, $dots:ty, $lanes:ty,
        $(#[$feature:meta])? [$($rows:literal)*] $vectors:tt) => {
        /// The kernels of an ISA; `None` if compiled out.
        #[cfg(not($condition))]
        mod $name {
            pub const KERNELS: Option<&super::ByteKernels> = None;
        }
        #[cfg($condition)]
        mod $name {
            use super::*;

            $(#[$feature])?
            unsafe fn tile<const R: usize, const V: usize>(tile: &Tile) {
                // SAFETY: the caller guarantees the contract of the argument and that the CPU has this row's ISA.
                unsafe { compute::<$dots, R, V>(tile) }
            }

            $(#[$feature])?
            unsafe fn finish(finish: &Finish) {
                // SAFETY: the caller guarantees the contract of the argument and that the CPU has this row's ISA.
                unsafe { crate::byte::finish::compute::<$lanes>(finish) }
            }

            $(#[$feature])?
            unsafe fn gather(gather: &Gather) {
                // SAFETY: the caller guarantees the contract of the argument and that the CPU has this row's ISA.
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
