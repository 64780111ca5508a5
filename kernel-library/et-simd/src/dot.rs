//! int8 dot products with int32 accumulators, several int8 per lane.
#![allow(unsafe_code)] // Reads through pointers.
#![allow(unused_unsafe)] // The macro for methods is made for intrinsics.

use crate::operators::intrinsics;
use crate::{Integer, Simd, Work};

/// A kernel generic over the int8 dot product, like [`Work`].
pub trait DotWork {
    /// The result of the kernel.
    type Output;
    /// Runs the kernel with the given dot product.
    fn run<D: Dot>(self, dot: D) -> Self::Output;
}

/// An int8 dot product per lane. Each lane holds a sliding window of the last [`Dot::TAPS`] int8 inputs; `shift_in`
/// pushes new inputs. By default, each lane holds one int8, widened to 32 bits.
pub trait Dot: Copy {
    /// The ISA of the instruction.
    type Isa: Simd;
    /// int8 products per lane: 1, 2 (`vpmaddwd`) or 4 (`vpdpbusd`).
    const TAPS: usize = 1;

    /// The ISA token.
    fn isa(self) -> Self::Isa;
    /// Runs a kernel compiled with the target features of the dot product.
    #[inline(always)]
    fn compile<W: DotWork>(self, work: W) -> W::Output {
        self.isa().vectorize(With(self, work))
    }
    /// Drops the oldest `N` int8 of each lane and appends the int8 at each of the `N` pointers, a lane per consecutive
    /// address.
    ///
    /// # Safety
    /// Each pointer is valid for reads of [`Simd::LANES`] bytes, and `N` is 1 or 2, and at most [`Dot::TAPS`].
    #[inline(always)]
    unsafe fn shift_in<const N: usize>(self, _: Bytes<Self>, from: [*const i8; N]) -> Bytes<Self> {
        // SAFETY: the caller guarantees that each pointer is valid for a vector of int8.
        unsafe { self.isa().read_i8(from[N - 1]) }
    }
    /// Prepares the int8 of [`Dot::shift_in`] as the second operand of the dot product.
    #[inline(always)]
    fn second_factor(self, bytes: Bytes<Self>) -> Bytes<Self> {
        bytes.words()
    }
    /// Accumulates the dot product of each lane. The first operand may carry a constant offset (128 for VNNI), whose
    /// contribution depends on the second operand alone.
    #[inline(always)]
    fn add_products(self, sum: Bytes<Self>, first: Bytes<Self>, second: Bytes<Self>) -> Bytes<Self> {
        sum + first.mul_words(second)
    }
}

/// The packed int8, or the int32 accumulator, of each lane.
pub type Bytes<D> = <<D as Dot>::Isa as Simd>::I32;

/// The dot product of a GEMM: four int8 weights per lane by four int8 activations that every lane shares.
///
/// # Safety
/// Every method requires a CPU with the ISA of the dot product, and valid pointers.
#[allow(clippy::missing_safety_doc, reason = "the contract of every method is that of the trait")]
pub trait GemmDot: Dot {
    /// A weight vector, in the operand format of the dot product.
    type Weights: Copy;
    /// The activations, in the operand format of the dot product.
    type Activation: Copy;
    /// int32 accumulators per vector.
    const LANES: usize = Self::Isa::LANES;
    /// Columns of the last packed panel are a multiple of this number: at least `LANES`.
    const PACKED_LANES: usize = Self::LANES;
    /// Accumulator sets of a GEMV, at most four; limited by the registers.
    const GEMV_SETS: usize = 4;
    /// Whether the ISA multiplies pairs of rows: [`Self::interleave`], [`Self::pair`], [`Self::add_pair`] and
    /// [`Self::unpair`] exist.
    const PAIRS: bool = false;

    /// Prepares four int8 per lane as weights: unsigned where the packed weights have an offset of 128.
    unsafe fn weights(bytes: Bytes<Self>) -> Self::Weights;
    /// Prepares four int8 per lane as activations.
    unsafe fn activation(bytes: Bytes<Self>) -> Self::Activation;
    /// Adds a 4-way int8 dot product to each accumulator.
    unsafe fn add(sum: Bytes<Self>, weights: Self::Weights, activation: Self::Activation) -> Bytes<Self>;

    intrinsics! {
        /// Loads a weight vector: four int8 per lane.
        unsafe fn load(from: *const u8) -> Self::Weights = Self::weights(Self::Isa::assume().read_i32(from.cast()));
        /// Unpacks eight int4 per lane to int8 from 0 to 15: first the low 4 bits of each byte, then the high 4 bits.
        unsafe fn unpack_int4(from: *const u8) -> [Self::Weights; 2] = {
            let isa = Self::Isa::assume();
            let (bytes, mask) = (isa.read_i32(from.cast()), isa.splat_i32(0x0F0F_0F0F));
            [Self::weights(bytes & mask), Self::weights(bytes.shift_right(4) & mask)]
        };
        /// Unpacks eight of sixteen 6-bit integers per lane to int8 from 0 to 63. `low` has the low 4 bits of the eight as
        /// [`Self::unpack_int4`] reads them; a byte at `high` has the high 2 bits of four elements, four elements apart. `is_last` chooses
        /// elements 8 to 15.
        unsafe fn unpack_int6(low: *const u8, high: *const u8, is_last: bool) -> [Self::Weights; 2] = {
            let isa = Self::Isa::assume();
            let (low, high, mask) = (isa.read_i32(low.cast()), isa.read_i32(high.cast()), isa.splat_i32(0x0F0F_0F0F));
            let [first, second] = match is_last {
                false => [high.shift_left(4), high.shift_left(2)],
                true => [high, high.shift_right(2)],
            };
            let top = isa.splat_i32(0x3030_3030);
            [Self::weights((low & mask) ^ (first & top)), Self::weights((low.shift_right(4) & mask) ^ (second & top))]
        };
        /// Broadcasts four int8.
        unsafe fn spread(word: i32) -> Self::Activation = Self::activation(Self::Isa::assume().splat_i32(word));
        /// Adds the four int8 of each lane to the accumulators.
        unsafe fn add_bytes(sum: Bytes<Self>, bytes: Bytes<Self>) -> Bytes<Self> = {
            let ones = Self::Isa::assume().splat_i32(0x0101_0101);
            Self::add(sum, Self::weights(ones), Self::activation(bytes))
        };
        /// Like [`Self::add_bytes`] for the last `count` bytes of a row, fewer than a vector, and copies the bytes unless
        /// `to` is null; a whole vector may be written.
        unsafe fn add_rest(sum: Bytes<Self>, from: *const i8, to: *mut i8, count: usize) -> Bytes<Self> = {
            let mut bytes = [0i32; crate::simd::MOST_LANES];
            core::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr().cast(), count);
            if !to.is_null() {
                core::ptr::copy_nonoverlapping(from, to, count);
            }
            Self::add_bytes(sum, Self::Isa::assume().read_i32(bytes.as_ptr()))
        };
        /// Interleaves the weight vectors of K elements 0 to 3 and 4 to 7: eight K elements for each of the first columns,
        /// and for each of the last columns.
        unsafe fn interleave(weights: [Self::Weights; 2]) -> [Self::Weights; 2] = weights;
        /// Eight int8 of two rows of A.
        unsafe fn pair(rows: [i64; 2]) -> Self::Activation = Self::spread(rows[0] as i32);
        /// Adds 8-way int8 dot products of two rows by two columns: both columns of the first row, then of the second row.
        unsafe fn add_pair(sum: Bytes<Self>, weights: Self::Weights, rows: Self::Activation) -> Bytes<Self> =
            Self::add(sum, weights, rows);
        /// Two rows of accumulators from the accumulators of the first and of the last columns.
        unsafe fn unpair(columns: [Bytes<Self>; 2]) -> [Bytes<Self>; 2] = columns;
    }
}

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

/// Runs a [`DotWork`] as a [`Work`].
struct With<D, W>(D, W);

impl<D: Dot, W: DotWork> Work for With<D, W> {
    type Output = W::Output;
    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> W::Output {
        self.1.run(self.0)
    }
}
