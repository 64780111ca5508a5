//! Kernel configurations of the `f32` GEMM, a row per ISA. Packing, computing, tests and benchmarks read this table.
#![allow(unsafe_code, reason = "kernels are functions that need the instructions of their row")]

use et_simd::Isa;

use super::tile::{Computed, FinishKernel, Tile, TileKernel, compute, compute_even};
use super::transform::{InputKernel, OutputKernel, Pixels, Window};
use crate::int4::scale::{HalfScales, StepScales};
use crate::weight_only::unpack::{Unpack, UnpackKernel};

/// The kernel configuration of an ISA.
pub struct FloatRow {
    /// The instruction set.
    pub isa: Isa,
    /// Elements per vector.
    pub lanes: usize,
    /// Vectors per panel.
    pub vectors: usize,
    /// Columns of a vector and vectors of a packed panel, which all instruction sets of the architecture read.
    pub packed: [usize; 2],
    /// MR: the maximum number of rows per micro-kernel.
    pub height: usize,
    /// MR of the small-M micro-kernels, which keep four accumulator sets per row; limited by the registers.
    pub few: usize,
    /// The kernels; `None` on foreign architectures or if compiled out.
    pub kernels: Option<&'static FloatKernels>,
}

/// The kernels of an ISA.
pub struct FloatKernels {
    /// The micro-kernel for `rows - 1` and `vectors - 1`.
    pub tile: fn(usize, usize) -> Option<TileKernel>,
    /// The micro-kernel of MR rows for a uniform row stride (in elements) and `vectors - 1`.
    pub even: fn(usize, usize) -> Option<TileKernel>,
    /// The epilogue of expensive activations.
    pub finish: FinishKernel,
    /// The Winograd input transform.
    pub input: InputKernel,
    /// The Winograd output transform.
    pub output: OutputKernel,
    /// Dequantizes int8 weights.
    pub bytes: UnpackKernel,
    /// Dequantizes blockwise int4 weights with fp16 scales.
    pub halves: UnpackKernel,
    /// Dequantizes blockwise int4 weights with second-level scales.
    pub stepped_halves: UnpackKernel,
}

/// The largest M that counts as small: about the tokens that speculative decoding verifies at once.
const FEW_ROWS: usize = 8;

/// [`FloatRow::few`] per configuration.
const FEW: [usize; 4] = [1, 1, 3, 1];

/// [`FloatRow::height`] per configuration.
const HEIGHT: [usize; 4] = [4, 6, 14, 6];

/// Packed panels of x86-64: two vectors of AVX-512, which AVX2 reads in two parts.
const X86: [usize; 2] = [16, 2];

/// Packed panels of AArch64.
const ARM: [usize; 2] = [4, 4];

/// Packed panels of the portable kernels.
const NATIVE: [usize; 2] = [4, 2];

/// Every configuration.
pub static FLOAT: [FloatRow; 4] = [
    FloatRow {
        isa: Isa::Portable,
        lanes: 4,
        vectors: 2,
        packed: NATIVE,
        height: HEIGHT[0],
        few: FEW[0],
        kernels: portable::KERNELS,
    },
    FloatRow {
        isa: Isa::Avx2,
        lanes: 8,
        vectors: 2,
        packed: X86,
        height: HEIGHT[1],
        few: FEW[1],
        kernels: avx2::KERNELS,
    },
    FloatRow {
        isa: Isa::Avx512,
        lanes: 16,
        vectors: 2,
        packed: X86,
        height: HEIGHT[2],
        few: FEW[2],
        kernels: avx512::KERNELS,
    },
    FloatRow {
        isa: Isa::Neon,
        lanes: 4,
        vectors: 4,
        packed: ARM,
        height: HEIGHT[3],
        few: FEW[3],
        kernels: neon::KERNELS,
    },
];

impl FloatRow {
    /// The configuration for an ISA.
    pub fn of(isa: Isa) -> &'static Self {
        &FLOAT[match isa {
            Isa::Portable => 0,
            Isa::Avx2 | Isa::AvxVnni => 1,
            Isa::Avx512 | Isa::Avx512Vnni | Isa::Amx => 2,
            Isa::Neon | Isa::NeonDot | Isa::NeonI8mm => 3,
        }]
    }

    /// MR for a GEMM of M = `rows`. A small M uses the same summation order as a GEMV, with bit-identical results: both
    /// are bound by the bandwidth of the weights.
    pub const fn height_of(&self, rows: usize) -> usize {
        if rows <= FEW_ROWS { self.few } else { self.height }
    }

    /// NR: columns per panel.
    pub const fn width(&self) -> usize {
        self.lanes * self.vectors
    }
}

macro_rules! kernels {
    ($name:ident, $condition:meta, $lanes:ty, $row:literal, $(#[$feature:meta])? [$($rows:literal)*] $vectors:tt) => {
        /// The kernels of an ISA; `None` if compiled out.
        #[cfg(not($condition))]
        mod $name {
            pub const KERNELS: Option<&super::FloatKernels> = None;
        }
        #[cfg($condition)]
        mod $name {
            use super::*;

            $(#[$feature])?
            unsafe fn tile<const R: usize, const V: usize>(tile: &Tile) {
                // SAFETY: the caller guarantees the contract of `Tile` and that the CPU has this row's ISA.
                unsafe { compute::<$lanes, R, V, { FEW[$row] }>(tile) }
            }

            $(#[$feature])?
            unsafe fn even_tile<const V: usize, const D: usize>(tile: &Tile) {
                // SAFETY: the caller guarantees the contract of `Tile` and that the CPU has this row's ISA.
                unsafe { compute_even::<$lanes, { HEIGHT[$row] }, V, D>(tile) }
            }

            $(#[$feature])?
            unsafe fn finish(tile: &Tile, computed: Computed) {
                // SAFETY: the caller guarantees the contracts of `Tile` and `Computed` and that the CPU has this row's
                // ISA.
                unsafe { crate::float::tile::finish::<$lanes>(tile, computed) }
            }

            $(#[$feature])?
            unsafe fn input(window: &Window) {
                // SAFETY: the caller guarantees the contract of `Window` and that the CPU has this row's ISA.
                unsafe { crate::float::transform::input::<$lanes>(window) }
            }

            $(#[$feature])?
            unsafe fn output(pixels: &Pixels) {
                // SAFETY: the caller guarantees the contract of `Pixels` and that the CPU has this row's ISA.
                unsafe { crate::float::transform::output::<$lanes>(pixels) }
            }

            $(#[$feature])?
            unsafe fn bytes(part: &Unpack) {
                // SAFETY: the caller guarantees the contract of `Unpack` and that the CPU has this row's ISA.
                unsafe { crate::weight_only::unpack::bytes::<$lanes>(part) }
            }

            $(#[$feature])?
            unsafe fn halves(part: &Unpack) {
                // SAFETY: the caller guarantees the contract of `Unpack` and that the CPU has this row's ISA.
                unsafe { crate::weight_only::unpack::halves::<$lanes, HalfScales>(part) }
            }

            $(#[$feature])?
            unsafe fn stepped_halves(part: &Unpack) {
                // SAFETY: the caller guarantees the contract of `Unpack` and that the CPU has this row's ISA.
                unsafe { crate::weight_only::unpack::halves::<$lanes, StepScales>(part) }
            }

            pub const KERNELS: Option<&FloatKernels> =
                Some(&FloatKernels { tile: kernel, even, finish, input, output, bytes, halves, stepped_halves });

            /// The micro-kernel for `rows + 1` rows and `vectors + 1` vectors.
            fn kernel(rows: usize, vectors: usize) -> Option<TileKernel> {
                const KERNELS: &[&[TileKernel]] = &[$(kernels!(@row $rows $vectors)),*];
                KERNELS.get(rows)?.get(vectors).copied()
            }

            /// The micro-kernels for a uniform row stride of one or two elements (NCHW input).
            fn even(distance: usize, vectors: usize) -> Option<TileKernel> {
                let kernels: &[TileKernel] = match distance {
                    1 => kernels!(@even 1 $vectors),
                    2 => kernels!(@even 2 $vectors),
                    _ => return None,
                };
                kernels.get(vectors).copied()
            }
        }
    };
    (@row $rows:literal [$($vectors:literal)*]) => { &[$(tile::<$rows, $vectors>),*] };
    (@even $distance:literal [$($vectors:literal)*]) => { &[$(even_tile::<$vectors, $distance>),*] };
}

kernels!(portable, all(feature = "float", any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64")))),
    et_simd::Portable, 0, [1 2 3 4] [1 2]);
kernels!(avx2, all(feature = "float", target_arch = "x86_64"), et_simd::Avx2, 1,
    #[target_feature(enable = "avx2,fma,f16c")] [1 2 3 4 5 6] [1 2]);
kernels!(avx512, all(feature = "float", target_arch = "x86_64"), et_simd::Avx512, 2,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")] [1 2 3 4 5 6 7 8 9 10 11 12 13 14] [1 2]);
kernels!(neon, all(feature = "float", target_arch = "aarch64"), et_simd::Neon, 3,
    #[target_feature(enable = "neon")] [1 2 3 4 5 6] [1 2 3 4]);
