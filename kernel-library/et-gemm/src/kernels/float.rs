//! The `f32` micro-kernel: an MR x NR tile with the accumulators in registers.
#![allow(unsafe_code, reason = "windows, panels and outputs are read and written by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is the inner loop of a tile under the contract of `Tile`")]
#![allow(clippy::needless_range_loop, reason = "an index counts through several arrays and memory at once")]

use et_simd::{Activation, ActivationLoop, Float, Formula, Simd};

/// Arguments of the micro-kernel.
///
/// # Safety
///
/// `table` has `runs * R` pointers per tile, each valid for `length` elements; for uniform strides `runs` pointers, each
/// valid for the K segments of every row. `panel` has a bias row and `runs * length` weight rows, `panel_stride` elements
/// apart. The contract of [`Epilogue`] holds for `tiles * R` rows of at most a panel's columns.
pub struct Tile {
    /// The indirection buffer: pointers to the K segments of the rows, tile by tile; for uniform strides the pointers
    /// of the first row alone.
    pub table: *const *const f32,
    /// K segments per row.
    pub runs: usize,
    /// Elements per K segment.
    pub length: usize,
    /// The packed weights of the panel.
    pub panel: *const f32,
    /// Row stride of the packed weights, in elements: at least the columns of the panel.
    pub panel_stride: usize,
    /// The first row of 16-bit weights; null for `f32` weights, which follow the bias row.
    pub halves: *const u16,
    /// Output, residual and activation.
    pub epilogue: Epilogue,
    /// Prefetch pointer into the next panel: each K step prefetches the next `ahead_step` bytes.
    pub ahead: *const u8,
    /// Bytes prefetched per K step.
    pub ahead_step: usize,
    /// Prefetch offset of uniform-stride kernels: bytes from a receptive field to the receptive field of the next
    /// output line. Any value is safe.
    pub below: usize,
    /// Consecutive tiles of equal height.
    pub tiles: usize,
}

/// The output of a tile, and what is applied to the accumulators. The micro-kernel adds the residual and applies cheap
/// activations; [`finish`] applies expensive activations, and then adds a residual after the activation.
///
/// # Safety
///
/// `output`, and `residual` unless null, have rows of `columns` elements.
#[derive(Clone, Copy)]
pub struct Epilogue {
    /// The first element of the output.
    pub output: *mut f32,
    /// Row stride of the output, in elements.
    pub stride: usize,
    /// Columns that are stored.
    pub columns: usize,
    /// The first element of the residual, or null.
    pub residual: *const f32,
    /// Row stride of the residual, in elements.
    pub residual_stride: usize,
    /// Whether the residual is added after the activation.
    pub residual_last: bool,
    /// The activation.
    pub activation: Activation,
}

impl Epilogue {
    /// An activation without a residual.
    pub const fn new(output: *mut f32, stride: usize, columns: usize, activation: Activation) -> Self {
        let (residual, residual_stride, residual_last) = (core::ptr::null(), 0, false);
        Self { output, stride, columns, residual, residual_stride, residual_last, activation }
    }

    /// The rows of a tile that the micro-kernel stored in the output.
    pub const fn stored(&self, rows: usize) -> Computed {
        Computed { start: self.output.cast_const(), stride: self.stride, rows }
    }
}

/// A type of packed weights.
pub trait Weight {
    /// Bytes of a weight.
    const BYTES: usize;

    /// Loads a vector of weights.
    ///
    /// # Safety
    ///
    /// The CPU has the ISA of `S`; `from` is valid for a vector of weights.
    unsafe fn read<S: Simd>(isa: S, from: *const u8) -> S::F32;
}

/// `f32` weights.
pub struct F32;

/// fp16 weights.
pub struct Fp16;

/// bf16 weights.
pub struct Bf16;

impl Weight for F32 {
    const BYTES: usize = 4;
    #[inline(always)]
    unsafe fn read<S: Simd>(isa: S, from: *const u8) -> S::F32 {
        isa.read(from.cast())
    }
}

impl Weight for Fp16 {
    const BYTES: usize = 2;
    #[inline(always)]
    unsafe fn read<S: Simd>(isa: S, from: *const u8) -> S::F32 {
        isa.read_halves(from.cast())
    }
}

impl Weight for Bf16 {
    const BYTES: usize = 2;
    #[inline(always)]
    unsafe fn read<S: Simd>(isa: S, from: *const u8) -> S::F32 {
        isa.read_bfloats(from.cast())
    }
}

/// Bytes per cache line.
const CACHE_LINE: usize = 64;

/// Computes tiles except for the epilogue of [`finish`]. Tiles of at most `FEW` rows use another summation order than
/// larger tiles.
///
/// # Safety
///
/// The CPU has the ISA of `S`, and the contract of [`Tile`] holds.
#[inline(always)]
pub unsafe fn compute<S: Simd, const R: usize, const V: usize, const FEW: usize>(tile: &Tile) {
    let isa = S::assume();
    for index in 0..tile.tiles {
        let sums = if const { R <= FEW } {
            sum_few::<S, F32, R, V>(isa, tile, index)
        } else {
            sum::<S, R, V>(isa, tile, index)
        };
        complete::<S, R, V>(isa, tile, index * R, sums);
    }
}

/// Computes tiles of few rows with weights of type `W`, bit-identical to [`compute`] with these weights in `f32`.
///
/// # Safety
///
/// As [`compute`]; the 16-bit weights of the tile have the type.
#[inline(always)]
pub unsafe fn compute_few<S: Simd, W: Weight, const R: usize, const V: usize>(tile: &Tile) {
    let isa = S::assume();
    for index in 0..tile.tiles {
        let sums = sum_few::<S, W, R, V>(isa, tile, index);
        complete::<S, R, V>(isa, tile, index * R, sums);
    }
}

/// Computes tiles with a uniform row stride of `D` elements, bit-identical to [`compute`], without loading a pointer
/// per row.
///
/// # Safety
///
/// As [`compute`].
#[inline(always)]
pub unsafe fn compute_even<S: Simd, const R: usize, const V: usize, const D: usize>(tile: &Tile) {
    let isa = S::assume();
    for first in (0..tile.tiles * R).step_by(R) {
        // K segments of three elements (3 x 3 kernel, a channel plane) are unrolled.
        let sums = match tile.length {
            3 => sum_even::<S, R, V, D>(isa, tile, first, 3),
            length => sum_even::<S, R, V, D>(isa, tile, first, length),
        };
        complete::<S, R, V>(isa, tile, first, sums);
    }
}

/// Applies residual and cheap activations to the accumulators, and stores the rows from `first` on.
#[inline(always)]
unsafe fn complete<S: Simd, const R: usize, const V: usize>(
    isa: S,
    tile: &Tile,
    first: usize,
    mut sums: [[S::F32; V]; R],
) {
    let epilogue = &tile.epilogue;
    let (is_added, activation) = (!epilogue.residual.is_null(), epilogue.activation);
    if is_added && !epilogue.residual_last {
        add_residual::<S, R, V>(isa, epilogue, first, &mut sums);
    }
    activation.specialize_cheap(Apply { isa, sums: &mut sums });
    if is_added && epilogue.residual_last && activation.is_cheap() {
        add_residual::<S, R, V>(isa, epilogue, first, &mut sums);
    }
    let whole = epilogue.columns == V * S::LANES;
    for row in 0..R {
        let to = epilogue.output.add((first + row) * epilogue.stride);
        for vector in 0..V {
            let start = vector * S::LANES;
            if whole {
                isa.write(to.add(start), sums[row][vector]);
            } else {
                isa.write_part(to.wrapping_add(start), epilogue.columns.saturating_sub(start), sums[row][vector]);
            }
        }
    }
}

/// The hot loop: multiply-adds over K.
#[inline(always)]
unsafe fn sum<S: Simd, const R: usize, const V: usize>(isa: S, tile: &Tile, index: usize) -> [[S::F32; V]; R] {
    let mut sums = [load_vectors::<S, V>(isa, tile.panel); R];
    let mut weights = tile.panel.add(tile.panel_stride);
    let mut ahead = tile.ahead.wrapping_add(index * tile.runs * tile.length * tile.ahead_step);
    let table = tile.table.add(index * tile.runs * R);
    for run in 0..tile.runs {
        let rows = table.add(run * R).cast::<[*const f32; R]>().read();
        for index in 0..tile.length {
            let vectors = load_vectors::<S, V>(isa, weights);
            isa.prefetch(ahead);
            ahead = ahead.wrapping_add(tile.ahead_step);
            for row in 0..R {
                let value = isa.splat(*rows[row].add(index));
                for vector in 0..V {
                    sums[row][vector] = value.mul_add(vectors[vector], sums[row][vector]);
                }
            }
            weights = weights.add(tile.panel_stride);
        }
    }
    sums
}

/// The hot loop for a uniform row stride of `D` elements, for the rows from `first` on.
#[inline(always)]
unsafe fn sum_even<S: Simd, const R: usize, const V: usize, const D: usize>(
    isa: S,
    tile: &Tile,
    first: usize,
    length: usize,
) -> [[S::F32; V]; R] {
    let mut sums = [load_vectors::<S, V>(isa, tile.panel); R];
    let mut weights = tile.panel.add(tile.panel_stride);
    for run in 0..tile.runs {
        let window = (*tile.table.add(run)).add(first * D);
        for part in (0..R * D * size_of::<f32>()).step_by(CACHE_LINE) {
            isa.prefetch(window.cast::<u8>().wrapping_add(tile.below + part));
        }
        for index in 0..length {
            let vectors = load_vectors::<S, V>(isa, weights);
            let element = window.add(index);
            for row in 0..R {
                let value = isa.splat(*element.add(row * D));
                for vector in 0..V {
                    sums[row][vector] = value.mul_add(vectors[vector], sums[row][vector]);
                }
            }
            weights = weights.add(tile.panel_stride);
        }
    }
    sums
}

/// The hot loop for a small M: four accumulator sets per row hide the FMA latency. A GEMM uses either this kernel for
/// every tile or for no tile.
#[inline(always)]
unsafe fn sum_few<S: Simd, W: Weight, const R: usize, const V: usize>(
    isa: S,
    tile: &Tile,
    index: usize,
) -> [[S::F32; V]; R] {
    let mut parts = [[[isa.splat(0.0); V]; R]; 4];
    parts[0] = [load_vectors::<S, V>(isa, tile.panel); R];
    let stride = const { W::BYTES } * tile.panel_stride;
    let mut weights = match tile.halves.is_null() {
        true => tile.panel.add(tile.panel_stride).cast::<u8>(),
        false => tile.halves.cast(),
    };
    let table = tile.table.add(index * tile.runs * R);
    for run in 0..tile.runs {
        let rows = table.add(run * R).cast::<[*const f32; R]>().read();
        let mut index = 0;
        while index < tile.length {
            let count = (tile.length - index).min(4);
            if count == 4 {
                for part in 0..4 {
                    step_few::<S, W, R, V>(isa, &mut parts[part], &rows, index + part, weights.add(part * stride));
                }
            } else {
                for part in 0..count {
                    step_few::<S, W, R, V>(isa, &mut parts[0], &rows, index + part, weights.add(part * stride));
                }
            }
            index += count;
            weights = weights.add(count * stride);
        }
    }
    let mut sums = [[isa.splat(0.0); V]; R];
    for row in 0..R {
        for vector in 0..V {
            let low = parts[0][row][vector] + parts[1][row][vector];
            sums[row][vector] = low + (parts[2][row][vector] + parts[3][row][vector]);
        }
    }
    sums
}

#[inline(always)]
unsafe fn step_few<S: Simd, W: Weight, const R: usize, const V: usize>(
    isa: S,
    part: &mut [[S::F32; V]; R],
    rows: &[*const f32; R],
    index: usize,
    weights: *const u8,
) {
    let mut vectors = [isa.splat(0.0); V];
    for (vector, weight) in vectors.iter_mut().enumerate() {
        *weight = W::read(isa, weights.add(vector * const { W::BYTES } * S::LANES));
    }
    for row in 0..R {
        let value = isa.splat(*rows[row].add(index));
        for vector in 0..V {
            part[row][vector] = value.mul_add(vectors[vector], part[row][vector]);
        }
    }
}

#[inline(always)]
unsafe fn load_vectors<S: Simd, const V: usize>(isa: S, from: *const f32) -> [S::F32; V] {
    let mut vectors = [isa.splat(0.0); V];
    for (index, vector) in vectors.iter_mut().enumerate() {
        *vector = isa.read(from.add(index * S::LANES));
    }
    vectors
}

/// Applies an activation to the accumulators.
struct Apply<'a, S: Simd, const R: usize, const V: usize> {
    isa: S,
    sums: &'a mut [[S::F32; V]; R],
}

impl<S: Simd, const R: usize, const V: usize> ActivationLoop for Apply<'_, S, R, V> {
    #[inline(always)]
    fn run<F: Formula>(self, formula: F) {
        for sum in self.sums.as_flattened_mut() {
            *sum = formula.apply(self.isa, *sum);
        }
    }
}

#[inline(always)]
unsafe fn add_residual<S: Simd, const R: usize, const V: usize>(
    isa: S,
    epilogue: &Epilogue,
    first: usize,
    sums: &mut [[S::F32; V]; R],
) {
    let whole = epilogue.columns == V * S::LANES;
    for row in 0..R {
        let from = epilogue.residual.add((first + row) * epilogue.residual_stride);
        for vector in 0..V {
            let start = vector * S::LANES;
            let residual = if whole {
                isa.read(from.add(start))
            } else {
                isa.read_part(from.wrapping_add(start), epilogue.columns.saturating_sub(start))
            };
            sums[row][vector] = sums[row][vector] + residual;
        }
    }
}

/// The rows of a computed tile: in the output, or in a contiguous buffer, which is faster if the output rows alias in
/// L1.
///
/// # Safety
///
/// `start` is valid for the tile's rows, `stride` elements apart.
#[derive(Clone, Copy)]
pub struct Computed {
    /// The first element.
    pub start: *const f32,
    /// Row stride in elements.
    pub stride: usize,
    /// Rows.
    pub rows: usize,
}

/// Applies an expensive activation and the residual after the activation to the rows of a tile, which are still in L1.
///
/// # Safety
///
/// The CPU has the ISA of `S`, and the contracts of [`Epilogue`] and [`Computed`] hold.
#[inline(always)]
pub unsafe fn finish<S: Simd>(epilogue: &Epilogue, computed: Computed) {
    if epilogue.activation == Activation::None {
        return;
    }
    epilogue.activation.specialize(FinishRows { isa: S::assume(), epilogue, computed });
}

/// The rows of [`finish`], under its contract.
struct FinishRows<'a, S> {
    isa: S,
    epilogue: &'a Epilogue,
    computed: Computed,
}

impl<S: Simd> ActivationLoop for FinishRows<'_, S> {
    #[inline(always)]
    fn run<F: Formula>(self, formula: F) {
        // SAFETY: the caller of `finish` upholds its contract.
        unsafe { finish_with(self.isa, self.epilogue, self.computed, formula) }
    }
}

/// # Safety
///
/// As [`finish`].
#[inline(always)]
unsafe fn finish_with<S: Simd, F: Formula>(isa: S, epilogue: &Epilogue, computed: Computed, formula: F) {
    let last = epilogue.residual_last && !epilogue.residual.is_null();
    for row in 0..computed.rows {
        let from = computed.start.add(row * computed.stride);
        let to = epilogue.output.add(row * epilogue.stride);
        let residual = epilogue.residual.wrapping_add(row * epilogue.residual_stride);
        for start in (0..epilogue.columns).step_by(S::LANES) {
            let count = (epilogue.columns - start).min(S::LANES);
            let mut value = formula.apply(isa, isa.read_some(from.add(start), count));
            if last {
                value = value + isa.read_some(residual.add(start), count);
            }
            isa.write_some(to.add(start), count, value);
        }
    }
}
