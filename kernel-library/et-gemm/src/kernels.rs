//! The micro-kernels, and the table of kernels, a row per ISA. Computing, tests and benchmarks read this table.
#![allow(unsafe_code, reason = "kernels are functions that need the instructions of their row")]

#[cfg(target_arch = "x86_64")]
pub mod amx;
pub mod block;
#[cfg(target_arch = "x86_64")]
pub mod block_amx;
pub mod block_format;
pub mod finish;
pub mod float;
pub mod gather;
pub mod halves;
pub mod int8;
pub mod quantize;
pub mod transform;
pub mod unpack;

use et_core::{Error, Result};
use et_simd::{Dot, Isa};

use block::Tile as BlockTile;
use block_format::{
    BlockFormat, Int4Floats, Int4Halves, Int4Steps, Int4SuperBlocks, Int6Floats, Int6SuperBlocks, Int8Floats,
    Int8Halves, Scales, Width,
};
use finish::{Finish, RowScale};
use float::{Computed, Epilogue, Tile as FloatTile};
use gather::Gather;
use int8::Tile as Int8Tile;
use quantize::FloatRows;
use transform::{Pixels, Window};
use unpack::Unpack;

/// Functions that are compiled with the target features of an ISA.
#[cfg_attr(not(any(feature = "float", feature = "int8")), allow(unused_macros, reason = "packing needs no kernels"))]
macro_rules! compiled {
    ($features:tt $(fn $name:ident $(<$($size:ident),*>)? ($($argument:ident: $type:ty),*) = $function:path;)*) => {
        $(compiled!(@one $features $name [$($($size)*)?] [$($argument: $type),*] $function);)*
    };
    (@one [$($features:literal)?] $name:ident [$($size:ident)*] [$($argument:ident: $type:ty),*] $function:path) => {
        $(#[target_feature(enable = $features)])?
        #[allow(unused_unsafe, reason = "some kernels are safe functions")]
        unsafe fn $name<$(const $size: usize),*>($($argument: $type),*) {
            // SAFETY: the caller guarantees the contract of the arguments and that the CPU has the ISA.
            unsafe { $function($($argument),*) }
        }
    };
}

/// The instances of a micro-kernel for numbers of rows and of vectors.
#[cfg_attr(not(any(feature = "float", feature = "int8")), allow(unused_macros, reason = "packing needs no kernels"))]
macro_rules! tiles {
    ($name:ident, [$($rows:literal)*] x $vectors:tt) => { &[$(tiles!(@row $name, $rows, $vectors)),*] };
    (@row $name:ident, $rows:literal, [$($vectors:literal)*]) => { &[$($name::<$rows, $vectors>),*] };
}

/// The number of literals.
macro_rules! count {
    ([$($literal:literal)*]) => { [$($literal),*].len() };
}

/// Kernels as a constant: `None` if the feature is off or the architecture is another one.
macro_rules! kernels {
    (@on $target:meta, $name:ident: $type:ty, $feature:literal, $isa:ident, lanes $lanes:literal, $rows:tt x $vectors:tt,
        small $small:expr, $kernels:block) => {
        const $name: Kernels<$type> = {
            #[cfg(all(feature = $feature, $target))]
            const KERNELS: Option<&$type> = Some(&$kernels);
            #[cfg(not(all(feature = $feature, $target)))]
            const KERNELS: Option<&$type> = None;
            let (vectors, height) = (count!($vectors), count!($rows));
            Kernels { isa: Isa::$isa, lanes: $lanes, vectors, height, small: $small, kernels: KERNELS }
        };
    };
    ($name:ident: $type:ty, $feature:literal, "portable", $($rest:tt)*) => {
        kernels!(@on any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "wasm32"))),
            $name: $type, $feature, $($rest)*);
    };
    ($name:ident: $type:ty, $feature:literal, $target:tt, $($rest:tt)*) => {
        kernels!(@on target_arch = $target, $name: $type, $feature, $($rest)*);
    };
}

/// The `f32` kernels of an ISA: its target features, its vectors, and the rows and vectors of the micro-kernels.
macro_rules! float {
    ($name:ident, $isa:ident, $target:tt, $features:tt, $simd:ty, lanes $lanes:literal, $rows:tt x $vectors:tt,
        few $few:tt) => {
        kernels!($name: FloatKernels, "float", $target, $isa, lanes $lanes, $rows x $vectors, small count!($few), {
            compiled! { $features
                fn tile<R, V>(tile: &FloatTile) = float::compute::<$simd, R, V, { count!($few) }>;
                fn bf16<R, V>(tile: &FloatTile) = float::compute_few::<$simd, float::Bf16, R, V>;
                fn fp16<R, V>(tile: &FloatTile) = float::compute_few::<$simd, float::Fp16, R, V>;
                fn even<D, V>(tile: &FloatTile) = float::compute_even::<$simd, { count!($rows) }, V, D>;
                fn finish(epilogue: &Epilogue, computed: Computed) = float::finish::<$simd>;
                fn input(window: &Window) = transform::input::<$simd>;
                fn output(pixels: &Pixels) = transform::output::<$simd>;
                fn unpack(part: &Unpack) = unpack::compute::<$simd>;
            }
            FloatKernels {
                tiles: tiles!(tile, $rows x $vectors),
                even: tiles!(even, [1 2] x $vectors),
                bf16: tiles!(bf16, $few x $vectors),
                fp16: tiles!(fp16, $few x $vectors),
                finish,
                input,
                output,
                unpack,
            }
        });
    };
}

/// The int8 and the blockwise kernels of an ISA: its target features, its dot product, and the rows and vectors of the
/// micro-kernels.
macro_rules! integer {
    ($int8:ident, $block:ident, $isa:ident, $target:tt, $features:tt, $dot:ty, lanes $lanes:literal,
        int8 $rows8:tt x $vectors8:tt, small $small:literal, blocks $block_rows:tt x $block_vectors:tt) => {
        kernels!($int8: Int8Kernels, "int8", $target, $isa, lanes $lanes, $rows8 x $vectors8, small $small, {
            compiled! { $features
                fn tile<R, V>(tile: &Int8Tile) = int8::compute::<$dot, R, V>;
                fn finish(finish: &Finish) = finish::compute::<<$dot as Dot>::Isa>;
                fn gather(gather: &Gather) = gather::compute::<$dot>;
                fn quantize(rows: &FloatRows<'_>, bytes: &mut [i8], scales: &mut [RowScale]) =
                    quantize::compute;
            }
            Int8Kernels { tiles: tiles!(tile, $rows8 x $vectors8), finish, gather, quantize }
        });
        kernels!($block: BlockKernels, "blocks", $target, $isa, lanes $lanes, $block_rows x $block_vectors, small count!($block_rows), {
            compiled! { $features
                fn halves<R, V>(tile: &BlockTile) = block::compute::<$dot, Int4Halves, R, V>;
                fn steps<R, V>(tile: &BlockTile) = block::compute::<$dot, Int4Steps, R, V>;
                fn floats<R, V>(tile: &BlockTile) = block::compute::<$dot, Int4Floats, R, V>;
                fn supers<R, V>(tile: &BlockTile) = block::compute::<$dot, Int4SuperBlocks, R, V>;
                fn sixes<R, V>(tile: &BlockTile) = block::compute::<$dot, Int6Floats, R, V>;
                fn super_sixes<R, V>(tile: &BlockTile) = block::compute::<$dot, Int6SuperBlocks, R, V>;
                fn bytes<R, V>(tile: &BlockTile) = block::compute::<$dot, Int8Halves, R, V>;
                fn byte_floats<R, V>(tile: &BlockTile) = block::compute::<$dot, Int8Floats, R, V>;
            }
            BlockKernels {
                int4_halves: tiles!(halves, $block_rows x $block_vectors),
                int4_steps: tiles!(steps, $block_rows x $block_vectors),
                int4_floats: tiles!(floats, $block_rows x $block_vectors),
                int4_super_blocks: tiles!(supers, $block_rows x $block_vectors),
                int6_floats: tiles!(sixes, $block_rows x $block_vectors),
                int6_super_blocks: tiles!(super_sixes, $block_rows x $block_vectors),
                int8_halves: tiles!(bytes, $block_rows x $block_vectors),
                int8_floats: tiles!(byte_floats, $block_rows x $block_vectors),
            }
        });
    };
}

/// The kernels of an ISA.
pub struct KernelRow {
    /// The instruction set.
    pub isa: Isa,
    /// The `f32` GEMM.
    pub float: Kernels<FloatKernels>,
    /// The int8 GEMM.
    pub int8: Kernels<Int8Kernels>,
    /// The blockwise GEMM.
    pub blocks: Kernels<BlockKernels>,
}

/// The kernels of a GEMM, and the sizes of the micro-kernels.
pub struct Kernels<K: 'static> {
    /// The ISA that the kernels need: the ISA of the row, or an ISA that the ISA of the row extends.
    pub isa: Isa,
    /// Accumulators per vector.
    pub lanes: usize,
    /// The maximum number of vectors per micro-kernel.
    pub vectors: usize,
    /// MR: the maximum number of rows per micro-kernel.
    pub height: usize,
    /// The maximum number of rows per tile of a small M. In `f32`, micro-kernels of this height keep four accumulator sets
    /// per row, so that the registers limit the height.
    pub small: usize,
    /// The kernels; `None` on foreign architectures or if compiled out.
    pub kernels: Option<&'static K>,
}

/// A micro-kernel for each number of rows and of vectors, from 1 on.
pub type Tiles<T> = &'static [&'static [unsafe fn(&T)]];

/// The `f32` kernels of an ISA.
pub struct FloatKernels {
    /// The micro-kernels.
    pub tiles: Tiles<FloatTile>,
    /// The micro-kernels of MR rows for a uniform row stride of one element, and of two elements (NCHW input).
    pub even: Tiles<FloatTile>,
    /// The micro-kernels of few rows with bf16 weights.
    pub bf16: Tiles<FloatTile>,
    /// The micro-kernels of few rows with fp16 weights.
    pub fp16: Tiles<FloatTile>,
    /// The epilogue of expensive activations.
    pub finish: unsafe fn(&Epilogue, Computed),
    /// The Winograd input transform.
    pub input: unsafe fn(&Window),
    /// The Winograd output transform.
    pub output: unsafe fn(&Pixels),
    /// Widens 16-bit weights, and dequantizes int8 or blockwise ones.
    pub unpack: unsafe fn(&Unpack),
}

/// The int8 kernels of an ISA.
pub struct Int8Kernels {
    /// The micro-kernels.
    pub tiles: Tiles<Int8Tile>,
    /// The epilogue.
    pub finish: unsafe fn(&Finish),
    /// LHS packing and row sums.
    pub gather: unsafe fn(&Gather),
    /// Dynamic quantization of rows.
    pub quantize: unsafe fn(&FloatRows<'_>, &mut [i8], &mut [RowScale]),
}

/// The blockwise kernels of an ISA.
pub struct BlockKernels {
    /// The micro-kernels of int4 with fp16 block scales.
    pub int4_halves: Tiles<BlockTile>,
    /// The micro-kernels of int4 with u8 block scales.
    pub int4_steps: Tiles<BlockTile>,
    /// The micro-kernels of int4 with `f32` block scales.
    pub int4_floats: Tiles<BlockTile>,
    /// The micro-kernels of int4 with i8 block scales of super-blocks.
    pub int4_super_blocks: Tiles<BlockTile>,
    /// The micro-kernels of int6 with `f32` block scales.
    pub int6_floats: Tiles<BlockTile>,
    /// The micro-kernels of int6 with i8 block scales of super-blocks.
    pub int6_super_blocks: Tiles<BlockTile>,
    /// The micro-kernels of int8 with fp16 block scales.
    pub int8_halves: Tiles<BlockTile>,
    /// The micro-kernels of int8 with `f32` block scales.
    pub int8_floats: Tiles<BlockTile>,
}

impl KernelRow {
    /// The row of an ISA.
    pub fn of(isa: Isa) -> &'static Self {
        KERNELS.iter().find(|row| row.isa == isa).unwrap_or(&KERNELS[0])
    }
}

impl<K> Kernels<K> {
    /// NR: columns per micro-kernel.
    pub const fn width(&self) -> usize {
        self.lanes * self.vectors
    }

    /// Lanes and vectors of a panel of the micro-kernel.
    pub const fn panel(&self) -> [usize; 2] {
        [self.lanes, self.vectors]
    }

    /// The kernels. Fails if this CPU lacks the ISA, or if the kernels are compiled out.
    pub fn available(&self) -> Result<&'static K> {
        self.kernels.filter(|_| self.isa.is_available()).ok_or(Error::NotSupported)
    }
}

/// The largest M that counts as small in `f32`: about the tokens that speculative decoding verifies at once.
const SMALL_ROWS: usize = 8;

impl Kernels<FloatKernels> {
    /// The maximum number of rows per tile of a GEMM of M = `rows`. A small M uses the same summation order as a GEMV, with
    /// bit-identical results: both are bound by the bandwidth of the weights.
    pub const fn height_of(&self, rows: usize) -> usize {
        if Self::is_small(rows) { self.small } else { self.height }
    }

    /// Whether M = `rows` is small.
    pub const fn is_small(rows: usize) -> bool {
        rows <= SMALL_ROWS
    }
}

impl BlockKernels {
    /// The micro-kernels for a packed format.
    pub const fn tiles(&self, form: BlockFormat) -> Tiles<BlockTile> {
        match (form.width, form.scales) {
            (Width::Int4, Scales::Halves) => self.int4_halves,
            (Width::Int4, Scales::Steps) => self.int4_steps,
            (Width::Int4, Scales::Floats) => self.int4_floats,
            (Width::Int4, Scales::SuperBlocks) => self.int4_super_blocks,
            (Width::Int6, Scales::SuperBlocks) => self.int6_super_blocks,
            (Width::Int6, _) => self.int6_floats,
            (Width::Int8, Scales::Floats) => self.int8_floats,
            (Width::Int8, _) => self.int8_halves,
        }
    }
}

/// The micro-kernel for a number of rows and of vectors.
#[inline(always)]
pub fn tile_of<T>(tiles: Tiles<T>, rows: usize, vectors: usize) -> Result<unsafe fn(&T)> {
    let row = tiles.get(rows.wrapping_sub(1)).and_then(|row| row.get(vectors.wrapping_sub(1)));
    row.copied().ok_or(Error::Internal)
}

/// Every row, in the order of [`Isa::ALL`].
pub static KERNELS: [KernelRow; 10] = [
    KernelRow { isa: Isa::Portable, float: F32_PORTABLE, int8: INT8_PORTABLE, blocks: BLOCK_PORTABLE },
    KernelRow { isa: Isa::Avx2, float: F32_AVX2, int8: INT8_AVX2, blocks: BLOCK_AVX2 },
    KernelRow { isa: Isa::AvxVnni, float: F32_AVX2, int8: INT8_AVX_VNNI, blocks: BLOCK_AVX_VNNI },
    KernelRow { isa: Isa::Avx512, float: F32_AVX512, int8: INT8_AVX2, blocks: BLOCK_AVX2 },
    KernelRow { isa: Isa::Avx512Vnni, float: F32_AVX512, int8: INT8_AVX512_VNNI, blocks: BLOCK_AVX512_VNNI },
    KernelRow {
        isa: Isa::Amx,
        float: F32_AVX512,
        // Tiles of AMX; the VNNI kernels compute the row sums and the epilogue, and rows and columns that fill no tile.
        int8: Kernels { isa: Isa::Amx, small: 32, ..INT8_AVX512_VNNI },
        blocks: Kernels { isa: Isa::Amx, ..BLOCK_AVX512_VNNI },
    },
    KernelRow { isa: Isa::Neon, float: F32_NEON, int8: INT8_NEON, blocks: BLOCK_NEON },
    KernelRow { isa: Isa::NeonDot, float: F32_NEON, int8: INT8_NEON_DOT, blocks: BLOCK_NEON_DOT },
    KernelRow { isa: Isa::NeonI8mm, float: F32_NEON, int8: INT8_NEON_I8MM, blocks: BLOCK_NEON_I8MM },
    KernelRow { isa: Isa::Simd128, float: F32_SIMD128, int8: INT8_SIMD128, blocks: BLOCK_SIMD128 },
];

float!(F32_PORTABLE, Portable, "portable", [], et_simd::Portable, lanes 4, [1 2 3 4] x [1 2], few [1]);
float!(F32_AVX2, Avx2, "x86_64", ["avx2,fma,f16c"], et_simd::Avx2, lanes 8,
    [1 2 3 4 5 6] x [1 2], few [1]);
float!(F32_AVX512, Avx512, "x86_64", ["avx512f,avx512bw,avx512dq,avx512vl"], et_simd::Avx512, lanes 16,
    [1 2 3 4 5 6 7 8 9 10 11 12 13 14] x [1 2], few [1 2 3]);
float!(F32_NEON, Neon, "aarch64", ["neon"], et_simd::Neon, lanes 4,
    [1 2 3 4 5 6] x [1 2 3 4], few [1]);
float!(F32_SIMD128, Simd128, "wasm32", ["simd128"], et_simd::Simd128, lanes 4,
    [1 2 3 4 5 6] x [1 2], few [1]);

integer!(INT8_PORTABLE, BLOCK_PORTABLE, Portable, "portable", [], et_simd::Portable, lanes 4,
    int8 [1 2 3 4] x [1 2], small 4, blocks [1 2 3 4] x [1 2]);
integer!(INT8_AVX2, BLOCK_AVX2, Avx2, "x86_64", ["avx2,fma,f16c"], et_simd::Avx2, lanes 8,
    int8 [1 2] x [1 2 3 4], small 4, blocks [1 2 3] x [1]);
integer!(INT8_AVX_VNNI, BLOCK_AVX_VNNI, AvxVnni, "x86_64", ["avx2,fma,f16c,avxvnni"], et_simd::AvxVnni,
    lanes 8, int8 [1 2 3] x [1 2 3 4], small 6, blocks [1 2 3 4] x [1]);
integer!(INT8_AVX512_VNNI, BLOCK_AVX512_VNNI, Avx512Vnni, "x86_64",
    ["avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"], et_simd::Avx512Vnni, lanes 16,
    int8 [1 2 3 4 5 6 7 8 9 10 11 12 13 14] x [1 2], small 14, blocks [1 2 3 4 5 6] x [1 2]);
integer!(INT8_NEON, BLOCK_NEON, Neon, "aarch64", ["neon"], et_simd::Neon, lanes 4,
    int8 [1 2 3 4] x [1 2 3 4], small 4, blocks [1 2 3 4] x [1 2]);
integer!(INT8_NEON_DOT, BLOCK_NEON_DOT, NeonDot, "aarch64", ["neon,dotprod"], et_simd::NeonDot<false>,
    lanes 4, int8 [1 2 3 4 5 6] x [1 2 3 4], small 6, blocks [1 2 3 4] x [1 2]);
integer!(INT8_NEON_I8MM, BLOCK_NEON_I8MM, NeonI8mm, "aarch64", ["neon,dotprod,i8mm"],
    et_simd::NeonDot<true>, lanes 4, int8 [1 2 3 4 5 6] x [1 2 3 4], small 6, blocks [1 2 3 4] x [1 2]);
integer!(INT8_SIMD128, BLOCK_SIMD128, Simd128, "wasm32", ["simd128"], et_simd::Simd128, lanes 4,
    int8 [1 2 3 4] x [1 2], small 4, blocks [1 2 3 4] x [1 2]);
