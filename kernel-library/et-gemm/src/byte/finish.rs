//! Epilogue of the int8 GEMM: int32 accumulators to int8 (requantize) or `f32` outputs.
#![allow(unsafe_code, reason = "sums and outputs are read and written by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is an inner loop under the contract of `Finish`")]
#![allow(clippy::needless_range_loop, reason = "an index counts through several arrays and memory at once")]

use crate::activation::Activation;
use crate::lanes::{Lanes, function::activate};

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

/// [`compute`] for an instruction set.
pub type FinishKernel = unsafe fn(&Finish);

/// Runs the epilogue of a tile.
///
/// # Safety
///
/// The CPU has the ISA of `L`, and the contract of [`Finish`] holds.
#[inline(always)]
pub unsafe fn compute<L: Lanes>(finish: &Finish) {
    let plain = matches!(finish.activation, Activation::None) && finish.row_scales.is_null();
    match (finish.store, finish.added) {
        (Store::Bytes(to, quantization), Added::Nothing) if plain && quantization.inverse_scale == 1.0 => {
            return requantize::<L, false>(finish, to, &quantization, &Steps::NONE);
        }
        (Store::Bytes(to, quantization), Added::Bytes(from, scale, zero))
            if plain && quantization.inverse_scale == 1.0 =>
        {
            return requantize::<L, true>(finish, to, &quantization, &Steps { from, scale, zero });
        }
        _ => {}
    }
    macro_rules! each {
        ($($case:ident),*) => {
            match finish.activation {
                $(Activation::$case => general::<L>(finish, Activation::$case),)*
                Activation::Clamp(least, most) => general::<L>(finish, Activation::Clamp(least, most)),
            }
        };
    }
    each!(None, HardSwish, HardSigmoid, Gelu, GeluTanh, Silu, Sigmoid);
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
unsafe fn requantize<L: Lanes, const ANY: bool>(
    finish: &Finish,
    to: *mut i8,
    quantization: &Quantization,
    added: &Steps<ANY>,
) {
    let bytes = Bytes::new(quantization);
    let mut start = 0;
    while start < finish.columns {
        let left = finish.columns - start;
        // A constant count inside each branch turns partial stores into full vector stores.
        start += if left >= 4 * L::COUNT {
            requantize_vectors::<L, ANY, 4>(finish, to, &bytes, added, [start, L::COUNT])
        } else if left >= L::COUNT {
            requantize_vectors::<L, ANY, 1>(finish, to, &bytes, added, [start, L::COUNT])
        } else {
            requantize_vectors::<L, ANY, 1>(finish, to, &bytes, added, [start, left])
        };
    }
}

/// Requantizes `N` vectors of each row, the last with `count` columns. Returns the number of columns in `N` full
/// vectors.
#[inline(always)]
unsafe fn requantize_vectors<L: Lanes, const ANY: bool, const N: usize>(
    finish: &Finish,
    to: *mut i8,
    bytes: &Bytes,
    added: &Steps<ANY>,
    [start, count]: [usize; 2],
) -> usize {
    let mut columns = [column::<L>(finish, start); N];
    for vector in 1..N {
        columns[vector] = column(finish, start + vector * L::COUNT);
    }
    let zero = L::splat(-added.zero * added.scale);
    let (mut sums, mut to, mut from) = (finish.sums.add(start), to.add(start), added.from.wrapping_add(start));
    for row in 0..finish.rows {
        let mut values = [zero; N];
        for vector in 0..N {
            let (place, (factors, scales)) = (vector * L::COUNT, columns[vector]);
            let sum = L::from_sums(sums.add(place), factors, 1, *finish.addends.add(row));
            values[vector] = match ANY {
                true => L::load_bytes(from.add(place), count)
                    .multiply_add(L::splat(added.scale), sum.multiply_add(scales, zero)),
                false => sum.multiply(scales),
            };
        }
        bytes.store_all(values, to, count);
        sums = sums.add(finish.stride);
        to = to.wrapping_add(finish.store_stride);
        from = from.wrapping_add(finish.added_stride);
    }
    N * L::COUNT
}

/// The corrections and scales of a vector of columns.
#[inline(always)]
unsafe fn column<L: Lanes>(finish: &Finish, start: usize) -> (L::Words, L) {
    (L::words(finish.factors.add(start)), L::load(finish.scales.add(start)))
}

/// The general epilogue. Each call site passes a constant activation, so that the inner loop has no branch on the
/// activation.
#[inline(always)]
unsafe fn general<L: Lanes>(finish: &Finish, activation: Activation) {
    let mut start = 0;
    while start < finish.columns {
        let count = (finish.columns - start).min(L::COUNT);
        if count == L::COUNT {
            general_vector::<L>(finish, activation, start, L::COUNT);
        } else {
            general_vector::<L>(finish, activation, start, count);
        }
        start += count;
    }
}

#[inline(always)]
unsafe fn general_vector<L: Lanes>(finish: &Finish, activation: Activation, start: usize, count: usize) {
    let (factors, scales) = column::<L>(finish, start);
    let bias = L::load(finish.bias.add(start));
    for row in 0..finish.rows {
        let (sums, addend) = (finish.sums.add(row * finish.stride + start), *finish.addends.add(row));
        let mut value = if finish.row_scales.is_null() {
            L::from_sums(sums, factors, 1, addend).multiply(scales)
        } else {
            let RowScale { scale, zero_point } = *finish.row_scales.add(row);
            let value = L::from_sums(sums, factors, zero_point.wrapping_neg(), addend).multiply(scales);
            value.multiply(L::splat(scale)).add(bias)
        };
        let added = row * finish.added_stride + start;
        if !finish.added_last {
            value = add::<L>(finish, value, added, count);
        }
        value = activate(activation, value);
        if finish.added_last {
            value = add::<L>(finish, value, added, count);
        }
        let place = row * finish.store_stride + start;
        match &finish.store {
            Store::Floats(to) => value.store_part(to.add(place), count),
            Store::Bytes(to, quantization) => {
                let value = value.multiply(L::splat(quantization.inverse_scale));
                Bytes::new(quantization).store(value, to.add(place), count);
            }
        }
    }
}

#[inline(always)]
unsafe fn add<L: Lanes>(finish: &Finish, value: L, place: usize, count: usize) -> L {
    match finish.added {
        Added::Nothing => value,
        Added::Bytes(from, scale, zero_point) => {
            let steps = L::load_bytes(from.add(place), count).subtract(L::splat(zero_point));
            value.add(steps.multiply(L::splat(scale)))
        }
        Added::Floats(from) => value.add(L::load_part(from.add(place), count)),
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
    unsafe fn store_all<L: Lanes, const N: usize>(&self, values: [L; N], to: *mut i8, count: usize) {
        if N == 4 {
            let four = [values[0], values[1 % N], values[2 % N], values[3 % N]];
            return L::store_four(four, self.zero, [self.least, self.most], to);
        }
        for vector in 0..N {
            self.store(values[vector], to.add(vector * L::COUNT), count);
        }
    }

    #[inline(always)]
    unsafe fn store<L: Lanes>(&self, value: L, to: *mut i8, count: usize) {
        value.at_least(self.least).at_most(self.most).store_bytes(self.zero, to, count);
    }
}
