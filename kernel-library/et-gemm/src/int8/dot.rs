//! Vectors of int32 accumulators with a 4-way int8 dot product per lane (`vpdpbusd`, `sdot`).
#![allow(unsafe_code, reason = "instructions exist only on processors that have them, and memory is read by pointer")]

use et_simd::Simd;

/// A vector of int32 accumulators. A weight vector has four int8 per lane; four int8 of the activation are broadcast to
/// every lane.
///
/// # Safety
///
/// Every method requires a CPU with the implementation's ISA, and valid pointers.
pub trait Dots: Copy {
    /// A weight vector, in the operand format of the dot product.
    type Weights: Copy;
    /// Four broadcast int8 of an activation, in the operand format of the dot product.
    type Activation: Copy;
    /// The vectors for the epilogue, with as many lanes.
    type Isa: Simd;
    /// Lanes.
    const LANES: usize;
    /// Columns of the last packed panel are a multiple of this number: at least `LANES`.
    const PACKED_LANES: usize = Self::LANES;
    /// Accumulator sets of a GEMV, at most four; limited by the registers.
    const GEMV_SETS: usize = 4;
    /// Accumulators of zero.
    unsafe fn zero() -> Self;
    /// Loads a weight vector: four int8 per lane.
    unsafe fn weights(from: *const u8) -> Self::Weights;
    /// Unpacks eight int4 per lane to int8 from 0 to 15: first the low 4 bits of each byte, then the high 4 bits.
    unsafe fn unpack_int4(from: *const u8) -> [Self::Weights; 2];
    /// Broadcasts an accumulator value.
    unsafe fn splat(value: i32) -> Self;
    /// Converts the accumulators to `f32`.
    unsafe fn real(self) -> Real<Self>;
    /// Broadcasts four int8.
    unsafe fn spread(word: i32) -> Self::Activation;
    /// Adds a 4-way int8 dot product to each accumulator.
    unsafe fn add(self, weights: Self::Weights, activation: Self::Activation) -> Self;
    /// Whether the ISA multiplies pairs of rows: [`Self::interleave`], [`Self::pair`], [`Self::add_pair`] and
    /// [`Self::unpair`] exist.
    const PAIRS: bool = false;
    /// Interleaves the weight vectors of K elements 0 to 3 and 4 to 7: eight K elements for each of the first columns, and
    /// for each of the last columns.
    #[inline(always)]
    unsafe fn interleave(weights: [Self::Weights; 2]) -> [Self::Weights; 2] {
        weights
    }
    /// Eight int8 of two rows of A.
    #[inline(always)]
    unsafe fn pair(rows: [i64; 2]) -> Self::Activation {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { Self::spread(rows[0] as i32) }
    }
    /// Adds 8-way int8 dot products of two rows by two columns: both columns of the first row, then of the second row.
    #[inline(always)]
    unsafe fn add_pair(self, weights: Self::Weights, rows: Self::Activation) -> Self {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { self.add(weights, rows) }
    }
    /// Two rows of accumulators from the accumulators of the first and of the last columns.
    #[inline(always)]
    unsafe fn unpair(columns: [Self; 2]) -> [Self; 2] {
        columns
    }
    /// Adds lanewise.
    unsafe fn plus(self, other: Self) -> Self;
    /// Stores the accumulators.
    unsafe fn store(self, to: *mut i32);
    /// Prefetches `count` bytes. Any address is allowed.
    #[inline(always)]
    fn prefetch(from: *const u8, count: usize) {
        let _ = (from, count);
    }
    /// Bytes that [`Self::take_chunk`] reads.
    const CHUNK: usize = 1;
    /// Adds the int8 of a chunk to the row sum, and copies the chunk unless `to` is null.
    #[inline(always)]
    unsafe fn take_chunk(self, from: *const i8, to: *mut i8) -> Self {
        let _ = (from, to);
        self
    }
    /// Like [`Self::take_chunk`] for the last `count` bytes, fewer than a chunk; a whole chunk may be written. The
    /// default adds to the scalar `rest` instead of the lanes.
    #[inline(always)]
    unsafe fn take_rest(self, from: *const i8, to: *mut i8, count: usize, rest: i32) -> (Self, i32) {
        let mut sum = rest;
        for index in 0..count {
            // SAFETY: the caller upholds the contract of this function.
            unsafe {
                let byte = *from.add(index);
                sum = sum.wrapping_add(i32::from(byte));
                if !to.is_null() {
                    *to.add(index) = byte;
                }
            }
        }
        (self, sum)
    }
    /// The sum of all lanes.
    #[inline(always)]
    unsafe fn total(self) -> i32 {
        0
    }
}

/// The `f32` vector of the epilogue.
pub type Real<D> = <<D as Dots>::Isa as Simd>::F32;

/// Four bytes as a word.
///
/// # Safety
///
/// `from` is valid for four bytes.
#[inline(always)]
pub unsafe fn word(from: *const i8) -> i32 {
    // SAFETY: the caller upholds the contract of this function.
    unsafe { from.cast::<i32>().read_unaligned() }
}

/// Loads `count` bytes, fewer than four, zero-extended to a word.
///
/// # Safety
///
/// `from` is valid for `count` bytes.
#[inline(always)]
pub unsafe fn part_of_word(from: *const i8, count: usize) -> i32 {
    let mut bytes = [0; 4];
    for (index, byte) in bytes.iter_mut().enumerate().take(count) {
        // SAFETY: the caller upholds the contract of this function.
        *byte = unsafe { *from.add(index) } as u8;
    }
    i32::from_ne_bytes(bytes)
}

/// Adds the products of eight K elements with [`Dots::PAIRS`]. Accumulators 2 i and 2 i + 1 are the first and the last
/// columns of rows 2 i and 2 i + 1, until [`unpair`]; without a partner, the last row has accumulators as of
/// [`Dots::add`]. `read` loads eight int8 of a row.
///
/// # Safety
///
/// The CPU has the ISA of `D`.
#[inline(always)]
pub unsafe fn add_eight<D: Dots, const R: usize, const V: usize>(
    sums: &mut [[D; V]; R],
    weights: [[D::Weights; 2]; V],
    read: impl Fn(usize) -> i64,
) {
    // SAFETY: the caller guarantees the ISA.
    unsafe {
        let mut columns = weights;
        for columns in &mut columns {
            *columns = D::interleave(*columns);
        }
        let mut pairs = sums.chunks_exact_mut(2);
        for (pair, sums) in pairs.by_ref().enumerate() {
            let rows = D::pair([read(2 * pair), read(2 * pair + 1)]);
            for vector in 0..V {
                sums[0][vector] = sums[0][vector].add_pair(columns[vector][0], rows);
                sums[1][vector] = sums[1][vector].add_pair(columns[vector][1], rows);
            }
        }
        for sums in pairs.into_remainder() {
            let eight = read(R - 1);
            let [first, second] = [D::spread(eight as i32), D::spread((eight >> 32) as i32)];
            for vector in 0..V {
                sums[vector] = sums[vector].add(weights[vector][0], first).add(weights[vector][1], second);
            }
        }
    }
}

/// Orders the accumulators of [`add_eight`] by rows.
///
/// # Safety
///
/// The CPU has the ISA of `D`.
#[inline(always)]
pub unsafe fn unpair<D: Dots, const R: usize, const V: usize>(sums: &mut [[D; V]; R]) {
    for [first, last] in sums.as_chunks_mut::<2>().0 {
        for (first, last) in first.iter_mut().zip(last) {
            // SAFETY: the caller guarantees the ISA.
            [*first, *last] = unsafe { D::unpair([*first, *last]) };
        }
    }
}

/// Loads up to eight bytes, zero-extended.
///
/// # Safety
///
/// `from` is valid for the smaller of `count` and eight bytes.
#[inline(always)]
pub unsafe fn eight_bytes(from: *const i8, count: usize) -> i64 {
    // SAFETY: the caller upholds the contract of this function.
    unsafe {
        match count {
            0..4 => i64::from(part_of_word(from, count)),
            4..8 => {
                let high = part_of_word(from.add(4), count - 4);
                i64::from(word(from).cast_unsigned()) | i64::from(high) << 32
            }
            _ => from.cast::<i64>().read_unaligned(),
        }
    }
}

/// Portable implementation: four lanes.
pub mod portable {
    use et_simd::Integer;

    use super::{Dots, Real};
    use core::array::from_fn;

    /// Four int32 accumulators.
    #[derive(Clone, Copy)]
    pub struct Portable([i32; 4]);

    impl Dots for Portable {
        type Weights = [[i8; 4]; 4];
        type Activation = [i8; 4];
        type Isa = et_simd::Portable;
        const LANES: usize = 4;
        #[inline(always)]
        unsafe fn zero() -> Self {
            Self([0; 4])
        }
        #[inline(always)]
        unsafe fn weights(from: *const u8) -> Self::Weights {
            // SAFETY: the caller upholds the contract of this function.
            unsafe { from.cast::<[[i8; 4]; 4]>().read() }
        }
        #[inline(always)]
        unsafe fn unpack_int4(from: *const u8) -> [Self::Weights; 2] {
            // SAFETY: the caller upholds the contract of this function.
            let bytes = unsafe { from.cast::<[[u8; 4]; 4]>().read() };
            [bytes.map(|lane| lane.map(|byte| (byte & 15) as i8)), bytes.map(|lane| lane.map(|byte| (byte >> 4) as i8))]
        }
        #[inline(always)]
        unsafe fn splat(value: i32) -> Self {
            Self([value; 4])
        }
        #[inline(always)]
        unsafe fn real(self) -> Real<Self> {
            et_simd::Integers::new(self.0).to_float()
        }
        #[inline(always)]
        unsafe fn spread(word: i32) -> Self::Activation {
            word.to_ne_bytes().map(|byte| byte as i8)
        }
        #[inline(always)]
        unsafe fn add(self, weights: Self::Weights, activation: Self::Activation) -> Self {
            let product = |lane: usize, index: usize| i32::from(weights[lane][index]) * i32::from(activation[index]);
            Self(from_fn(|lane| (0..4).fold(self.0[lane], |sum, index| sum.wrapping_add(product(lane, index)))))
        }
        #[inline(always)]
        unsafe fn plus(self, other: Self) -> Self {
            Self(from_fn(|lane| self.0[lane].wrapping_add(other.0[lane])))
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut i32) {
            // SAFETY: the caller upholds the contract of this function.
            unsafe { to.cast::<[i32; 4]>().write(self.0) }
        }
    }
}
