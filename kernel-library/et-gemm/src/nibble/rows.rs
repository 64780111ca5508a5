//! Kernel configurations of the blockwise int4 GEMM, a row per ISA.
#![allow(unsafe_code, reason = "kernels are functions that need the instructions of their row")]

use et_simd::{Architecture, Isa};

use super::scale::{HalfScales, ScaleForm, Scales, StepScales};
use super::tile::{Tile, TileKernel, compute};

/// The kernel configuration of an ISA.
pub struct NibbleRow {
    /// The instruction set.
    pub isa: Isa,
    /// Accumulators per vector.
    pub lanes: usize,
    /// The maximum number of vectors per micro-kernel.
    pub vectors: usize,
    /// Columns per panel, equal for every ISA of an architecture, so that the ISAs share packed weights.
    pub panel: usize,
    /// MR: the maximum number of rows per micro-kernel.
    pub height: usize,
    /// The kernels; `None` on foreign architectures or if compiled out.
    pub kernels: Option<Kernels>,
}

/// The micro-kernel for a scale format, `rows - 1` and `vectors - 1`.
pub type Kernels = fn(Scales, usize, usize) -> Option<TileKernel>;

const fn row(isa: Isa, [lanes, vectors, height]: [usize; 3], kernels: Option<Kernels>) -> NibbleRow {
    let panel = match isa.architecture() {
        Architecture::Portable | Architecture::Aarch64 => 8,
        Architecture::X86_64 => 32,
    };
    NibbleRow { isa, lanes, vectors, panel, height, kernels }
}

/// Every configuration: lanes per vector, vectors per micro-kernel, rows per micro-kernel.
pub static NIBBLE: [NibbleRow; 7] = [
    row(Isa::Portable, [4, 2, 4], portable::KERNELS),
    row(Isa::Avx2, [8, 1, 3], avx2::KERNELS),
    row(Isa::AvxVnni, [8, 1, 4], avx_vnni::KERNELS),
    row(Isa::Avx512Vnni, [16, 2, 6], avx512_vnni::KERNELS),
    row(Isa::Neon, [4, 2, 4], neon::KERNELS),
    row(Isa::NeonDot, [4, 2, 4], neon_dot::KERNELS),
    row(Isa::NeonI8mm, [4, 2, 4], neon_i8mm::KERNELS),
];

impl NibbleRow {
    /// The configuration for an ISA: of the ISA, or of the newest ISA that the ISA extends.
    pub fn of(isa: Isa) -> &'static Self {
        let row = |isa| NIBBLE.iter().find(|row| row.isa == isa);
        isa.with_bases().find_map(row).unwrap_or(&NIBBLE[0])
    }

    /// NR: columns per tile.
    pub const fn width(&self) -> usize {
        self.lanes * self.vectors
    }
}

macro_rules! kernels {
    ($name:ident, $condition:meta, $dots:ty, $(#[$feature:meta])? [$($rows:literal)*] $vectors:tt) => {
        /// The kernels of an ISA; `None` if compiled out.
        #[cfg(not($condition))]
        mod $name {
            pub const KERNELS: Option<super::Kernels> = None;
        }
        #[cfg($condition)]
        mod $name {
            use super::*;

            $(#[$feature])?
            unsafe fn tile<F: ScaleForm, const R: usize, const V: usize>(tile: &Tile) {
                // SAFETY: the caller guarantees the contract of `Tile` and that the CPU has this row's ISA.
                unsafe { compute::<$dots, F, R, V>(tile) }
            }

            pub const KERNELS: Option<Kernels> = Some(kernel);

            /// The micro-kernel for `rows + 1` rows and `vectors + 1` vectors.
            fn kernel(scales: Scales, rows: usize, vectors: usize) -> Option<TileKernel> {
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

kernels!(portable, all(feature = "nibble", any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64")))),
    crate::byte::dot::portable::Portable, [1 2 3 4] [1 2]);
kernels!(avx2, all(feature = "nibble", target_arch = "x86_64"), crate::byte::dot_x86::Avx2,
    #[target_feature(enable = "avx2,fma,f16c")] [1 2 3] [1]);
kernels!(avx_vnni, all(feature = "nibble", target_arch = "x86_64"), crate::byte::dot_x86::AvxVnni,
    #[target_feature(enable = "avx2,fma,f16c,avxvnni")] [1 2 3 4] [1]);
kernels!(avx512_vnni, all(feature = "nibble", target_arch = "x86_64"), crate::byte::dot_x86::Avx512Vnni,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")] [1 2 3 4 5 6] [1 2]);
kernels!(neon, all(feature = "nibble", target_arch = "aarch64"), crate::byte::dot_arm::Neon,
    #[target_feature(enable = "neon")] [1 2 3 4] [1 2]);
kernels!(neon_dot, all(feature = "nibble", target_arch = "aarch64"), crate::byte::dot_arm::NeonDot<false>,
    #[target_feature(enable = "neon,dotprod")] [1 2 3 4] [1 2]);
kernels!(neon_i8mm, all(feature = "nibble", target_arch = "aarch64"), crate::byte::dot_arm::NeonDot<true>,
    #[target_feature(enable = "neon,dotprod,i8mm")] [1 2 3 4] [1 2]);
