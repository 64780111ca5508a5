//! Epilogue of the int8 GEMM: int32 accumulators to int8 (requantize) or `f32` outputs.
#![allow(unsafe_code, reason = "sums and outputs are read and written by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is an inner loop under the contract of `Finish`")]
#![allow(clippy::needless_range_loop, reason = "an index counts through several arrays and memory at once")]

use et_core::Plain;
use et_simd::{Activation, ActivationLoop, Float, Formula, Integer, Simd, math};

/// Qparams of an int8 output: `clamp(round(value * inverse_scale) + zero_point)`, ties to even.
#[derive(Clone, Copy, Debug)]
pub struct Quantization {
    /// Reciprocal of the output scale; 1 if the weight scales already include the reciprocal.
    pub inverse_scale: f32,
    /// The zero point.
    pub zero_point: i8,
    /// The lower bound of the int8 output.
    pub least: i8,
    /// The upper bound of the int8 output.
    pub most: i8,
}

/// Per-token qparams of a dynamically quantized input row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowScale {
    /// The scale.
    pub scale: f32,
    /// The zero point.
    pub zero_point: i32,
}

// SAFETY: `RowScale` consists of two plain numbers.
unsafe impl Plain for RowScale {}

/// The residual of an epilogue.
#[derive(Clone, Copy)]
pub enum Added {
    /// No residual.
    Nothing,
    /// int8 residual with scale and zero point.
    Bytes(*const i8, f32, f32),
    /// `f32` residual.
    Floats(*const f32),
}

/// Destination and dtype of the output.
#[derive(Clone, Copy)]
pub enum Store {
    /// int8 output, requantized.
    Bytes(*mut i8, Quantization),
    /// `f32` output.
    Floats(*mut f32),
}

/// Arguments of the epilogue of a tile.
///
/// # Safety
///
/// `sums`, `factors`, `scales` and `bias` are readable in whole vectors for `columns`; `addends`, and `row_scales`
/// unless null, have an element per row; residual and output have `rows` rows of `columns` elements.
pub struct Finish {
    /// The int32 accumulators.
    pub sums: *const i32,
    /// Row stride of the accumulators, in elements.
    pub stride: usize,
    /// Rows of the tile.
    pub rows: usize,
    /// Columns that are stored.
    pub columns: usize,
    /// Static input: bias minus zero point times the column sum, per column. With per-token scales: the column sum,
    /// which the epilogue multiplies by the row's zero point and subtracts.
    pub factors: *const i32,
    /// Correction per row for the +128 offset of the weights: -128 times the row sum of the activations.
    pub addends: *const i32,
    /// Per-channel scales.
    pub scales: *const f32,
    /// The `f32` bias per column, used with per-token scales.
    pub bias: *const f32,
    /// Per-token qparams of the rows, or null.
    pub row_scales: *const RowScale,
    /// The residual.
    pub added: Added,
    /// Row stride of the residual, in elements.
    pub added_stride: usize,
    /// Whether the residual is added after the activation.
    pub added_last: bool,
    /// The activation, applied in `f32`.
    pub activation: Activation,
    /// The output.
    pub store: Store,
    /// Row stride of the output, in elements.
    pub store_stride: usize,
}

/// Runs the epilogue of a tile.
///
/// # Safety
///
/// The CPU has the ISA of `S`, and the contract of [`Finish`] holds.
#[inline(always)]
pub unsafe fn compute<S: Simd>(finish: &Finish) {
    let plain = matches!(finish.activation, Activation::None) && finish.row_scales.is_null();
    match (finish.store, finish.added) {
        (Store::Bytes(to, quantization), Added::Nothing) if plain && quantization.inverse_scale == 1.0 => {
            return requantize::<S, false>(finish, to, &quantization, &Steps::NONE);
        }
        (Store::Bytes(to, quantization), Added::Bytes(from, scale, zero))
            if plain && quantization.inverse_scale == 1.0 =>
        {
            return requantize::<S, true>(finish, to, &quantization, &Steps { from, scale, zero });
        }
        _ => {}
    }
    finish.activation.specialize(General { isa: S::assume(), finish });
}

/// The general epilogue, under the contract of [`compute`].
struct General<'a, S> {
    isa: S,
    finish: &'a Finish,
}

impl<S: Simd> ActivationLoop for General<'_, S> {
    #[inline(always)]
    fn run<F: Formula>(self, formula: F) {
        // SAFETY: the caller of `compute` upholds its contract.
        unsafe { general(self.isa, self.finish, formula) }
    }
}

/// int8 residual of the requantizing fast path, if `ANY`.
struct Steps<const ANY: bool> {
    from: *const i8,
    scale: f32,
    zero: f32,
}

impl Steps<false> {
    const NONE: Self = Self { from: core::ptr::null(), scale: 0.0, zero: 0.0 };
}

/// Requantizes accumulators to int8, with an optional int8 residual and no activation.
#[inline(always)]
unsafe fn requantize<S: Simd, const ANY: bool>(
    finish: &Finish,
    to: *mut i8,
    quantization: &Quantization,
    added: &Steps<ANY>,
) {
    let (isa, bytes) = (S::assume(), Bytes::new(quantization));
    let mut start = 0;
    while start < finish.columns {
        let left = finish.columns - start;
        // A constant count inside each branch turns partial stores into full vector stores.
        start += if left >= 4 * S::LANES {
            requantize_vectors::<S, ANY, 4>(isa, finish, to, &bytes, added, [start, S::LANES])
        } else if left >= S::LANES {
            requantize_vectors::<S, ANY, 1>(isa, finish, to, &bytes, added, [start, S::LANES])
        } else {
            requantize_vectors::<S, ANY, 1>(isa, finish, to, &bytes, added, [start, left])
        };
    }
}

/// Requantizes `N` vectors of each row, the last with `count` columns. Returns the number of columns in `N` full
/// vectors.
#[inline(always)]
unsafe fn requantize_vectors<S: Simd, const ANY: bool, const N: usize>(
    isa: S,
    finish: &Finish,
    to: *mut i8,
    bytes: &Bytes,
    added: &Steps<ANY>,
    [start, count]: [usize; 2],
) -> usize {
    let mut columns = [column(isa, finish, start); N];
    for vector in 1..N {
        columns[vector] = column(isa, finish, start + vector * S::LANES);
    }
    let zero = isa.splat(-added.zero * added.scale);
    let (mut sums, mut to, mut from) = (finish.sums.add(start), to.add(start), added.from.wrapping_add(start));
    for row in 0..finish.rows {
        let mut values = [zero; N];
        for vector in 0..N {
            let (place, (factors, scales)) = (vector * S::LANES, columns[vector]);
            let addend = isa.splat_i32(*finish.addends.add(row));
            let sum = (isa.read_i32(sums.add(place)) + addend + factors).to_float();
            values[vector] = match ANY {
                true => {
                    let residual = isa.read_i8_part(from.add(place), count).to_float();
                    residual.mul_add(isa.splat(added.scale), sum.mul_add(scales, zero))
                }
                false => sum * scales,
            };
        }
        bytes.store_all(isa, values, to, count);
        sums = sums.add(finish.stride);
        to = to.wrapping_add(finish.store_stride);
        from = from.wrapping_add(finish.added_stride);
    }
    N * S::LANES
}

/// The corrections and scales of a vector of columns.
#[inline(always)]
unsafe fn column<S: Simd>(isa: S, finish: &Finish, start: usize) -> (S::I32, S::F32) {
    (isa.read_i32(finish.factors.add(start)), isa.read(finish.scales.add(start)))
}

/// # Safety
///
/// As [`compute`].
#[inline(always)]
unsafe fn general<S: Simd, F: Formula>(isa: S, finish: &Finish, formula: F) {
    let mut start = 0;
    while start < finish.columns {
        let count = (finish.columns - start).min(S::LANES);
        if count == S::LANES {
            general_vector(isa, finish, formula, start, S::LANES);
        } else {
            general_vector(isa, finish, formula, start, count);
        }
        start += count;
    }
}

#[inline(always)]
unsafe fn general_vector<S: Simd, F: Formula>(isa: S, finish: &Finish, formula: F, start: usize, count: usize) {
    let (factors, scales) = column(isa, finish, start);
    let bias = isa.read(finish.bias.add(start));
    for row in 0..finish.rows {
        let sums = isa.read_i32(finish.sums.add(row * finish.stride + start));
        let sums = sums + isa.splat_i32(*finish.addends.add(row));
        let mut value = if finish.row_scales.is_null() {
            (sums + factors).to_float() * scales
        } else {
            let RowScale { scale, zero_point } = *finish.row_scales.add(row);
            let sums = sums - factors * isa.splat_i32(zero_point);
            sums.to_float() * scales * isa.splat(scale) + bias
        };
        let added = row * finish.added_stride + start;
        if !finish.added_last {
            value = add(isa, finish, value, added, count);
        }
        value = formula.apply(isa, value);
        if finish.added_last {
            value = add(isa, finish, value, added, count);
        }
        let place = row * finish.store_stride + start;
        match &finish.store {
            Store::Floats(to) => isa.write_part(to.add(place), count, value),
            Store::Bytes(to, quantization) => {
                let value = value * isa.splat(quantization.inverse_scale);
                Bytes::new(quantization).store(isa, value, to.add(place), count);
            }
        }
    }
}

#[inline(always)]
unsafe fn add<S: Simd>(isa: S, finish: &Finish, value: S::F32, place: usize, count: usize) -> S::F32 {
    match finish.added {
        Added::Nothing => value,
        Added::Bytes(from, scale, zero_point) => {
            let steps = isa.read_i8_part(from.add(place), count).to_float() - isa.splat(zero_point);
            value + steps * isa.splat(scale)
        }
        Added::Floats(from) => value + isa.read_part(from.add(place), count),
    }
}

/// Output bounds relative to the zero point.
struct Bytes {
    zero: i32,
    least: f32,
    most: f32,
}

impl Bytes {
    #[inline(always)]
    fn new(quantization: &Quantization) -> Self {
        let zero = i32::from(quantization.zero_point);
        let least = (i32::from(quantization.least) - zero) as f32;
        Self { zero, least, most: (i32::from(quantization.most) - zero) as f32 }
    }

    /// Stores a single vector of `count` columns, or four full vectors.
    #[inline(always)]
    unsafe fn store_all<S: Simd, const N: usize>(&self, isa: S, values: [S::F32; N], to: *mut i8, count: usize) {
        if const { N == 4 } {
            let four = [values[0], values[1 % N], values[2 % N], values[3 % N]];
            return isa.quantize_four(four, self.zero, [self.least, self.most], to);
        }
        for vector in 0..N {
            self.store(isa, values[vector], to.add(vector * S::LANES), count);
        }
    }

    #[inline(always)]
    unsafe fn store<S: Simd>(&self, isa: S, value: S::F32, to: *mut i8, count: usize) {
        let bytes = math::clamp(isa, value, self.least, self.most).to_integer() + isa.splat_i32(self.zero);
        isa.write_i8_part(to, count, bytes);
    }
}
