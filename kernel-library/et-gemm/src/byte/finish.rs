//! From sums of products of bytes to elements of the output.
#![allow(unsafe_code, reason = "sums and outputs are read and written by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is an inner loop under the contract of `Finish`")]
#![allow(clippy::needless_range_loop, reason = "an index counts through several arrays and memory at once")]

use crate::activation::Activation;
use crate::lanes::{Lanes, function::activate};

/// How real numbers become bytes: `round(value * inverse_scale) + zero_point`, ties to even, within bounds.
#[derive(Clone, Copy, Debug)]
pub struct Quantization<'a> {
    /// One over the scale; one if the scales of the weights are divided by it already.
    pub inverse_scale: f32,
    /// The byte of zero.
    pub zero_point: i8,
    /// The least byte.
    pub least: i8,
    /// The greatest byte.
    pub most: i8,
    /// A function of the byte: the result for -128, -127 and so on.
    pub table: Option<&'a [i8; 256]>,
}

/// How a row of the input was quantized at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowScale {
    /// The real number of a step.
    pub scale: f32,
    /// The byte of zero.
    pub zero_point: i32,
}

/// What is added to the sums.
#[derive(Clone, Copy)]
pub enum Added {
    /// Nothing.
    Nothing,
    /// Bytes with their scale and zero point.
    Bytes(*const i8, f32, f32),
    /// Floats.
    Floats(*const f32),
}

/// Where results go.
#[derive(Clone, Copy)]
pub enum Store<'a> {
    /// Bytes.
    Bytes(*mut i8, Quantization<'a>),
    /// Floats.
    Floats(*mut f32),
}

/// What is done with the sums of a tile.
///
/// # Safety
///
/// `sums`, `factors`, `scales` and `bias` have whole vectors for `columns`; `addends` and `row_scales`, if it is not null,
/// an element for each row; what is added and the output have `rows` rows of `columns` elements.
pub struct Finish<'a> {
    /// The sums.
    pub sums: *const i32,
    /// Sums from a row to the next.
    pub stride: usize,
    /// Rows.
    pub rows: usize,
    /// Columns that are stored.
    pub columns: usize,
    /// What is added to each column; with row scales, what is multiplied by the row's zero point and taken off.
    pub factors: *const i32,
    /// What is added to each row.
    pub addends: *const i32,
    /// The scale of each column.
    pub scales: *const f32,
    /// The bias of each column, used with row scales.
    pub bias: *const f32,
    /// The scale of each row, or null.
    pub row_scales: *const RowScale,
    /// The residual.
    pub added: Added,
    /// Elements from a row of the residual to the next.
    pub added_stride: usize,
    /// Whether the residual is added after the activation.
    pub added_last: bool,
    /// The activation, of real numbers.
    pub activation: Activation,
    /// The output.
    pub store: Store<'a>,
    /// Elements from a row of the output to the next.
    pub store_stride: usize,
}

/// [`compute`] for an instruction set.
pub type FinishKernel = unsafe fn(&Finish<'_>);

/// Finishes a tile.
///
/// # Safety
///
/// The processor has the instructions of `L`; what `Finish` asks for.
#[inline(always)]
pub unsafe fn compute<L: Lanes>(finish: &Finish<'_>) {
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

/// Bytes that are added, if any are.
struct Steps<const ANY: bool> {
    from: *const i8,
    scale: f32,
    zero: f32,
}

impl Steps<false> {
    const NONE: Self = Self { from: core::ptr::null(), scale: 0.0, zero: 0.0 };
}

/// Sums to bytes, with nothing between but bytes that are added.
#[inline(always)]
unsafe fn requantize<L: Lanes, const ANY: bool>(
    finish: &Finish<'_>,
    to: *mut i8,
    quantization: &Quantization<'_>,
    added: &Steps<ANY>,
) {
    let bytes = Bytes::new(quantization);
    let mut start = 0;
    while start < finish.columns {
        let left = finish.columns - start;
        // What is known of the count inside a branch makes stores those of whole vectors.
        start += if left >= 4 * L::COUNT {
            requantize_vectors::<L, ANY, 4>(finish, to, &bytes, added, [start, L::COUNT])
        } else if left >= L::COUNT {
            requantize_vectors::<L, ANY, 1>(finish, to, &bytes, added, [start, L::COUNT])
        } else {
            requantize_vectors::<L, ANY, 1>(finish, to, &bytes, added, [start, left])
        };
    }
    look_up(finish, quantization, to);
}

/// Some vectors of each row, of which the last has `count` columns; gives the columns of all.
#[inline(always)]
unsafe fn requantize_vectors<L: Lanes, const ANY: bool, const N: usize>(
    finish: &Finish<'_>,
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

/// The factors and the scales of a vector of columns.
#[inline(always)]
unsafe fn column<L: Lanes>(finish: &Finish<'_>, start: usize) -> (L::Words, L) {
    (L::words(finish.factors.add(start)), L::load(finish.scales.add(start)))
}

/// Each call has a constant activation, so that nothing is asked of it per element.
#[inline(always)]
unsafe fn general<L: Lanes>(finish: &Finish<'_>, activation: Activation) {
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
    if let Store::Bytes(to, quantization) = &finish.store {
        look_up(finish, quantization, *to);
    }
}

#[inline(always)]
unsafe fn general_vector<L: Lanes>(finish: &Finish<'_>, activation: Activation, start: usize, count: usize) {
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
unsafe fn add<L: Lanes>(finish: &Finish<'_>, value: L, place: usize, count: usize) -> L {
    match finish.added {
        Added::Nothing => value,
        Added::Bytes(from, scale, zero_point) => {
            let steps = L::load_bytes(from.add(place), count).subtract(L::splat(zero_point));
            value.add(steps.multiply(L::splat(scale)))
        }
        Added::Floats(from) => value.add(L::load_part(from.add(place), count)),
    }
}

/// The bounds of bytes before the zero point is added.
struct Bytes {
    zero: i32,
    least: f32,
    most: f32,
}

impl Bytes {
    #[inline(always)]
    fn new(quantization: &Quantization<'_>) -> Self {
        let zero = i32::from(quantization.zero_point);
        let least = (i32::from(quantization.least) - zero) as f32;
        Self { zero, least, most: (i32::from(quantization.most) - zero) as f32 }
    }

    /// One vector of `count` columns, or four whole ones.
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

#[inline(always)]
unsafe fn look_up(finish: &Finish<'_>, quantization: &Quantization<'_>, to: *mut i8) {
    let Some(table) = quantization.table else { return };
    for row in 0..finish.rows {
        for column in 0..finish.columns {
            let byte = to.add(row * finish.store_stride + column);
            *byte = table[usize::from(*byte as u8 ^ 0x80)];
        }
    }
}
