//! Kernel configurations of the int8 GEMM, a row per ISA. Packing, computing, tests and benchmarks read this table.
#![allow(unsafe_code, reason = "kernels are functions that need the instructions of their row")]

use et_simd::Isa;

use super::dot::Dots;
use super::finish::{Finish, FinishKernel, RowScale};
use super::gather::{Gather, GatherKernel};
use super::quantize::QuantizeKernel;
use super::tile::{Tile, TileKernel, compute};

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
    /// The maximum number of rows per tile of a small M: a multiple of MR, or the rows of an AMX tile.
    pub tile_rows: usize,
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
}

const fn row(
    isa: Isa,
    [lanes, vectors, height, tile_rows]: [usize; 4],
    kernels: Option<&'static ByteKernels>,
) -> ByteRow {
    ByteRow { isa, lanes, vectors, height, tile_rows, kernels }
}

/// Every configuration: lanes per vector, vectors per panel, rows per micro-kernel and per tile.
pub static BYTE: [ByteRow; 8] = [
    row(Isa::Portable, [4, 2, 4, 4], portable::KERNELS),
    row(Isa::Avx2, [8, 4, 2, 4], avx2::KERNELS),
    row(Isa::AvxVnni, [8, 4, 3, 6], avx_vnni::KERNELS),
    row(Isa::Avx512Vnni, [16, 2, 14, 14], avx512_vnni::KERNELS),
    // The VNNI kernels compute what surrounds the AMX tiles.
    row(Isa::Amx, [16, 2, 14, 32], avx512_vnni::KERNELS),
    row(Isa::Neon, [4, 4, 4, 4], neon::KERNELS),
    row(Isa::NeonDot, [4, 4, 6, 6], neon_dot::KERNELS),
    row(Isa::NeonI8mm, [4, 4, 6, 6], neon_i8mm::KERNELS),
];

impl ByteRow {
    /// The configuration for an ISA: of the ISA, or of the newest ISA that the ISA extends.
    pub fn of(isa: Isa) -> &'static Self {
        let row = |isa| BYTE.iter().find(|row| row.isa == isa);
        isa.with_bases().find_map(row).unwrap_or(&BYTE[0])
    }

    /// NR: columns per panel.
    pub const fn width(&self) -> usize {
        self.lanes * self.vectors
    }

    /// Whether the micro-kernel is AMX's.
    pub fn is_matrix(&self) -> bool {
        self.isa == Isa::Amx
    }
}

macro_rules! kernels {
    ($name:ident, $condition:meta, $dots:ty, $lanes:ty,
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

            const _: () = assert!(<$dots as Dots>::LANES % <$lanes as et_simd::Simd>::LANES == 0);

            pub const KERNELS: Option<&ByteKernels> =
                Some(&ByteKernels { tile: kernel, finish, gather, quantize });
        }
    };
    (@row $rows:literal [$($vectors:literal)*]) => { &[$(tile::<$rows, $vectors>),*] };
}

kernels!(portable, all(feature = "byte", any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64")))),
    crate::byte::dot::portable::Portable, et_simd::Portable, [1 2 3 4] [1 2]);
kernels!(avx2, all(feature = "byte", target_arch = "x86_64"),
    crate::byte::dot_x86::Avx2, et_simd::Avx2,
    #[target_feature(enable = "avx2,fma")] [1 2] [1 2 3 4]);
kernels!(avx_vnni, all(feature = "byte", target_arch = "x86_64"),
    crate::byte::dot_x86::AvxVnni, et_simd::Avx2,
    #[target_feature(enable = "avx2,fma,avxvnni")] [1 2 3] [1 2 3 4]);
kernels!(avx512_vnni, all(feature = "byte", target_arch = "x86_64"),
    crate::byte::dot_x86::Avx512Vnni, et_simd::Avx512,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    [1 2 3 4 5 6 7 8 9 10 11 12 13 14] [1 2]);
kernels!(neon, all(feature = "byte", target_arch = "aarch64"),
    crate::byte::dot_arm::Neon, et_simd::Neon,
    #[target_feature(enable = "neon")] [1 2 3 4] [1 2 3 4]);
kernels!(neon_dot, all(feature = "byte", target_arch = "aarch64"),
    crate::byte::dot_arm::NeonDot<false>, et_simd::Neon,
    #[target_feature(enable = "neon,dotprod")] [1 2 3 4 5 6] [1 2 3 4]);
kernels!(neon_i8mm, all(feature = "byte", target_arch = "aarch64"),
    crate::byte::dot_arm::NeonDot<true>, et_simd::Neon,
    #[target_feature(enable = "neon,dotprod,i8mm")] [1 2 3 4 5 6] [1 2 3 4]);
