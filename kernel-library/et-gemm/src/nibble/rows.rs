//! The rows of products with half bytes: which instruction set has which tiles.
#![allow(unsafe_code, reason = "kernels are functions that need the instructions of their row")]

use super::scale::{HalfScales, ScaleForm, Scales, StepScales};
use super::tile::{Tile, TileKernel, compute};
use crate::byte::dot;
use crate::isa::Isa;

/// One row: the tile of an instruction set.
pub struct NibbleRow {
    /// The instruction set.
    pub isa: Isa,
    /// Sums of a vector.
    pub lanes: usize,
    /// The most vectors of a tile.
    pub vectors: usize,
    /// Columns of a panel: all instruction sets of an architecture read the same weights.
    pub panel: usize,
    /// The most rows of a tile.
    pub height: usize,
    /// The kernels; none on other processors.
    pub kernels: Option<Kernels>,
}

/// The kernel for a form of scales, `rows - 1` and `vectors - 1`.
pub type Kernels = fn(Scales, usize, usize) -> Option<TileKernel>;

/// All rows.
pub static NIBBLE: [NibbleRow; 7] = [
    NibbleRow { isa: Isa::Portable, lanes: 4, vectors: 2, panel: 8, height: 4, kernels: portable_kernels!() },
    NibbleRow { isa: Isa::Avx2, lanes: 8, vectors: 1, panel: 32, height: 3, kernels: x86!(avx2) },
    NibbleRow { isa: Isa::AvxVnni, lanes: 8, vectors: 1, panel: 32, height: 4, kernels: avx_vnni_kernels!() },
    NibbleRow { isa: Isa::Avx512, lanes: 16, vectors: 2, panel: 32, height: 4, kernels: x86!(avx512) },
    NibbleRow { isa: Isa::Avx512Vnni, lanes: 16, vectors: 2, panel: 32, height: 6, kernels: x86!(avx512_vnni) },
    NibbleRow { isa: Isa::Neon, lanes: 4, vectors: 2, panel: 8, height: 4, kernels: arm!(neon) },
    NibbleRow { isa: Isa::NeonDot, lanes: 4, vectors: 2, panel: 8, height: 4, kernels: arm!(neon_dot) },
];

impl NibbleRow {
    /// The row that an instruction set uses.
    pub fn of(isa: Isa) -> &'static Self {
        &NIBBLE[match isa {
            Isa::Portable => 0,
            Isa::Avx2 => 1,
            Isa::AvxVnni => 2,
            Isa::Avx512 => 3,
            Isa::Avx512Vnni | Isa::Amx => 4,
            Isa::Neon => 5,
            Isa::NeonDot | Isa::NeonI8mm => 6,
        }]
    }

    /// Columns of a tile.
    pub const fn width(&self) -> usize {
        self.lanes * self.vectors
    }
}

macro_rules! kernels {
    ($name:ident, $dots:ty, $(#[$feature:meta])? [$($rows:literal)*] $vectors:tt) => {
        /// The tiles of one instruction set.
        mod $name {
            use super::*;

            $(#[$feature])?
            unsafe fn tile<F: ScaleForm, const R: usize, const V: usize>(tile: &Tile) {
                // SAFETY: the caller's promise, which includes the processor.
                unsafe { compute::<$dots, F, R, V>(tile) }
            }

            /// The tile of so many rows and vectors, each less one.
            pub fn kernel(scales: Scales, rows: usize, vectors: usize) -> Option<TileKernel> {
                const HALVES: &[&[TileKernel]] = &[$(kernels!(@row HalfScales $rows $vectors)),*];
                const STEPS: &[&[TileKernel]] = &[$(kernels!(@row StepScales $rows $vectors)),*];
                let kernels = match scales {
                    Scales::Halves => HALVES,
                    Scales::Steps => STEPS,
                };
                kernels.get(rows)?.get(vectors).copied()
            }
        }
    };
    (@row $form:ident $rows:literal [$($vectors:literal)*]) => { &[$(tile::<$form, $rows, $vectors>),*] };
}

macro_rules! x86 {
    ($name:ident) => {{
        #[cfg(target_arch = "x86_64")]
        let kernels: Option<Kernels> = Some($name::kernel);
        #[cfg(not(target_arch = "x86_64"))]
        let kernels = None;
        kernels
    }};
}
use x86;

macro_rules! portable_kernels {
    () => {{
        #[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
        let kernels: Option<Kernels> = Some(portable::kernel);
        #[cfg(not(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64")))))]
        let kernels = None;
        kernels
    }};
}
use portable_kernels;

macro_rules! avx_vnni_kernels {
    () => {{
        #[cfg(all(target_arch = "x86_64", feature = "avx-vnni"))]
        let kernels: Option<Kernels> = Some(avx_vnni::kernel);
        #[cfg(not(all(target_arch = "x86_64", feature = "avx-vnni")))]
        let kernels = None;
        kernels
    }};
}
use avx_vnni_kernels;

macro_rules! arm {
    ($name:ident) => {{
        #[cfg(target_arch = "aarch64")]
        let kernels: Option<Kernels> = Some($name::kernel);
        #[cfg(not(target_arch = "aarch64"))]
        let kernels = None;
        kernels
    }};
}
use arm;

#[cfg(target_arch = "aarch64")]
use crate::byte::dot_arm;
#[cfg(target_arch = "x86_64")]
use crate::byte::dot_x86;

#[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
kernels!(portable, dot::portable::Portable, [1 2 3 4] [1 2]);
#[cfg(target_arch = "x86_64")]
kernels!(avx2, dot_x86::Avx2, #[target_feature(enable = "avx2,fma")] [1 2 3] [1]);
#[cfg(all(target_arch = "x86_64", feature = "avx-vnni"))]
kernels!(avx_vnni, dot_x86::AvxVnni, #[target_feature(enable = "avx2,fma,avxvnni")] [1 2 3 4] [1]);
#[cfg(target_arch = "x86_64")]
kernels!(avx512, dot_x86::Avx512,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")] [1 2 3 4] [1 2]);
#[cfg(target_arch = "x86_64")]
kernels!(avx512_vnni, dot_x86::Avx512Vnni,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")] [1 2 3 4 5 6] [1 2]);
#[cfg(target_arch = "aarch64")]
kernels!(neon, dot_arm::Neon, #[target_feature(enable = "neon")] [1 2 3 4] [1 2]);
#[cfg(target_arch = "aarch64")]
kernels!(neon_dot, dot_arm::NeonDot, #[target_feature(enable = "neon,dotprod")] [1 2 3 4] [1 2]);
