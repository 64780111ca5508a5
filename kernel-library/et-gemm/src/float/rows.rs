//! The rows of products of `f32`: which instruction set has which tiles. Packing, computing, tests and benchmarks read it.
#![allow(unsafe_code, reason = "kernels are functions that need the instructions of their row")]

use super::tile::{Computed, FinishKernel, Tile, TileKernel, compute, compute_even};
use super::transform::{InputKernel, OutputKernel, Pixels, Window};
use crate::isa::Isa;
use crate::nibble::scale::{HalfScales, StepScales};
use crate::wide::unpack::{Unpack, UnpackKernel};

/// One row: the tile of an instruction set.
pub struct FloatRow {
    /// The instruction set.
    pub isa: Isa,
    /// Elements of a vector.
    pub lanes: usize,
    /// Vectors of a panel.
    pub vectors: usize,
    /// The most rows of a tile.
    pub height: usize,
    /// The most rows of a tile whose rows have several sums each: what registers have room for.
    pub few: usize,
    /// The kernels; none on other processors, and where they are not compiled.
    pub kernels: Option<&'static FloatKernels>,
}

/// The kernels of an instruction set.
pub struct FloatKernels {
    /// The tile for `rows - 1` and `vectors - 1`.
    pub tile: fn(usize, usize) -> Option<TileKernel>,
    /// The highest tile whose rows are so many elements apart, for `vectors - 1`.
    pub even: fn(usize, usize) -> Option<TileKernel>,
    /// Finishes a tile.
    pub finish: FinishKernel,
    /// Transforms a window of pixels.
    pub input: InputKernel,
    /// Makes pixels of transformed ones.
    pub output: OutputKernel,
    /// Makes numbers of bytes.
    pub bytes: UnpackKernel,
    /// Makes numbers of half bytes with scales of `float16`.
    pub halves: UnpackKernel,
    /// Makes numbers of half bytes whose scales are steps.
    pub stepped_halves: UnpackKernel,
}

/// The most rows of a product that are few: what reads a text ahead has about as many.
const FEW_ROWS: usize = 8;

/// [`FloatRow::few`] of all rows.
const FEW: [usize; 4] = [1, 1, 3, 1];

/// [`FloatRow::height`] of all rows.
const HEIGHT: [usize; 4] = [4, 6, 14, 6];

/// All rows.
pub static FLOAT: [FloatRow; 4] = [
    FloatRow { isa: Isa::Portable, lanes: 4, vectors: 2, height: HEIGHT[0], few: FEW[0], kernels: portable::KERNELS },
    FloatRow { isa: Isa::Avx2, lanes: 8, vectors: 2, height: HEIGHT[1], few: FEW[1], kernels: avx2::KERNELS },
    FloatRow { isa: Isa::Avx512, lanes: 16, vectors: 2, height: HEIGHT[2], few: FEW[2], kernels: avx512::KERNELS },
    FloatRow { isa: Isa::Neon, lanes: 4, vectors: 4, height: HEIGHT[3], few: FEW[3], kernels: neon::KERNELS },
];

impl FloatRow {
    /// The row that an instruction set uses.
    pub fn of(isa: Isa) -> &'static Self {
        &FLOAT[match isa {
            Isa::Portable => 0,
            Isa::Avx2 | Isa::AvxVnni => 1,
            Isa::Avx512 | Isa::Avx512Vnni | Isa::Amx => 2,
            Isa::Neon | Isa::NeonDot | Isa::NeonI8mm => 3,
        }]
    }

    /// The most rows of a tile of so many in all. Few rows are computed in tiles as one row is, to the same bits: their weights
    /// come from memory, and that decides how long they take.
    pub const fn height_of(&self, rows: usize) -> usize {
        if rows <= FEW_ROWS { self.few } else { self.height }
    }

    /// Columns of a panel.
    pub const fn width(&self) -> usize {
        self.lanes * self.vectors
    }
}

macro_rules! kernels {
    ($name:ident, $condition:meta, $lanes:ty, $row:literal, $(#[$feature:meta])? [$($rows:literal)*] $vectors:tt) => {
        /// The tiles of one instruction set; none where they are not compiled.
        #[cfg(not($condition))]
        mod $name {
            pub const KERNELS: Option<&super::FloatKernels> = None;
        }
        #[cfg($condition)]
        mod $name {
            use super::*;

            $(#[$feature])?
            unsafe fn tile<const R: usize, const V: usize>(tile: &Tile) {
                // SAFETY: the caller's promise, which includes the processor.
                unsafe { compute::<$lanes, R, V, { FEW[$row] }>(tile) }
            }

            $(#[$feature])?
            unsafe fn even_tile<const V: usize, const D: usize>(tile: &Tile) {
                // SAFETY: the caller's promise, which includes the processor.
                unsafe { compute_even::<$lanes, { HEIGHT[$row] }, V, D>(tile) }
            }

            $(#[$feature])?
            unsafe fn finish(tile: &Tile, computed: Computed) {
                // SAFETY: the caller's promise, which includes the processor.
                unsafe { crate::float::tile::finish::<$lanes>(tile, computed) }
            }

            $(#[$feature])?
            unsafe fn input(window: &Window) {
                // SAFETY: the caller's promise, which includes the processor.
                unsafe { crate::float::transform::input::<$lanes>(window) }
            }

            $(#[$feature])?
            unsafe fn output(pixels: &Pixels) {
                // SAFETY: the caller's promise, which includes the processor.
                unsafe { crate::float::transform::output::<$lanes>(pixels) }
            }

            $(#[$feature])?
            unsafe fn bytes(part: &Unpack) {
                // SAFETY: the caller's promise, which includes the processor.
                unsafe { crate::wide::unpack::bytes::<$lanes>(part) }
            }

            $(#[$feature])?
            unsafe fn halves(part: &Unpack) {
                // SAFETY: the caller's promise, which includes the processor.
                unsafe { crate::wide::unpack::halves::<$lanes, HalfScales>(part) }
            }

            $(#[$feature])?
            unsafe fn stepped_halves(part: &Unpack) {
                // SAFETY: the caller's promise, which includes the processor.
                unsafe { crate::wide::unpack::halves::<$lanes, StepScales>(part) }
            }

            pub const KERNELS: Option<&FloatKernels> =
                Some(&FloatKernels { tile: kernel, even, finish, input, output, bytes, halves, stepped_halves });

            /// The tile of so many rows and vectors, each less one.
            fn kernel(rows: usize, vectors: usize) -> Option<TileKernel> {
                const KERNELS: &[&[TileKernel]] = &[$(kernels!(@row $rows $vectors)),*];
                KERNELS.get(rows)?.get(vectors).copied()
            }

            /// The tiles of windows that are one or two elements apart: pixels of planes.
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
    crate::lanes::portable::Portable, 0, [1 2 3 4] [1 2]);
kernels!(avx2, all(feature = "float", target_arch = "x86_64"), crate::lanes::avx2::Avx2, 1,
    #[target_feature(enable = "avx2,fma")] [1 2 3 4 5 6] [1 2]);
kernels!(avx512, all(feature = "float", target_arch = "x86_64"), crate::lanes::avx512::Avx512, 2,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")] [1 2 3 4 5 6 7 8 9 10 11 12 13 14] [1 2]);
kernels!(neon, all(feature = "float", target_arch = "aarch64"), crate::lanes::neon::Neon, 3,
    #[target_feature(enable = "neon")] [1 2 3 4 5 6] [1 2 3 4]);
