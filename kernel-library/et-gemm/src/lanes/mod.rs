//! Vectors of `f32` of the instruction sets: what tiles and what follows the sums are written in.
#![allow(unsafe_code, reason = "instructions exist only on processors that have them, and memory is read by pointer")]

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
pub mod function;
#[cfg(target_arch = "aarch64")]
pub mod neon;
pub mod portable;

/// What a `float16`, its bits moved to where a `float32` has them, is multiplied by: the exponents begin 112 apart.
pub const HALF_EXPONENTS: f32 = f32::from_bits((127 + 112) << 23);

/// A vector of `f32`.
///
/// # Safety
///
/// Every method needs a processor with the instructions of the implementation, and pointers that are valid for
/// [`Lanes::COUNT`] elements, or for `count` where that is given.
pub trait Lanes: Copy {
    /// As many `i32`.
    type Words: Copy;
    /// Elements of a vector.
    const COUNT: usize;
    /// Reads a vector of `i32`.
    unsafe fn words(from: *const i32) -> Self::Words;
    /// Some bits of words, from the lowest on after a shift to the right: those of `mask`, the ones of `flipped` the other way
    /// round; as numbers.
    unsafe fn field(words: Self::Words, shift: i32, mask: i32, flipped: i32) -> Self;
    /// Brings memory into the second-level cache; any address will do.
    #[inline(always)]
    unsafe fn prefetch(from: *const u8) {
        let _ = from;
    }
    /// All elements equal.
    unsafe fn splat(value: f32) -> Self;
    /// Reads a vector.
    unsafe fn load(from: *const f32) -> Self;
    /// Reads a vector of `float16` that are not negative (IEEE 754-2008, binary16).
    unsafe fn load_halves(from: *const u16) -> Self;
    /// Reads a vector of bytes without a sign.
    unsafe fn load_unsigned(from: *const u8) -> Self;
    /// Writes a vector.
    unsafe fn store(self, to: *mut f32);
    /// Reads the first `count` elements; the others are zero.
    unsafe fn load_part(from: *const f32, count: usize) -> Self;
    /// Writes the first `count` elements.
    unsafe fn store_part(self, to: *mut f32, count: usize);
    /// Sum.
    unsafe fn add(self, other: Self) -> Self;
    /// Difference.
    unsafe fn subtract(self, other: Self) -> Self;
    /// Product.
    unsafe fn multiply(self, other: Self) -> Self;
    /// Quotient.
    unsafe fn divide(self, other: Self) -> Self;
    /// `self * factor + addend`, rounded once where the processor can.
    unsafe fn multiply_add(self, factor: Self, addend: Self) -> Self;
    /// The lesser; `self` if that is not a number.
    unsafe fn at_most(self, bound: f32) -> Self;
    /// The greater; `self` if that is not a number.
    unsafe fn at_least(self, bound: f32) -> Self;
    /// To the nearest whole number, ties to even, of magnitudes below 2^22.
    unsafe fn round(self) -> Self;
    /// Two to the power of whole numbers from -126 to 127.
    unsafe fn power_of_two(self) -> Self;
    /// `sums + factors * factor + addend` in `i32` (wrapping), as `f32`.
    unsafe fn from_sums(sums: *const i32, factors: Self::Words, factor: i32, addend: i32) -> Self;
    /// Reads the first `count` bytes.
    unsafe fn load_bytes(from: *const i8, count: usize) -> Self;
    /// Rounds (ties to even), adds a zero point, and writes the first `count` results, which must be within a byte's range.
    unsafe fn store_bytes(self, zero_point: i32, to: *mut i8, count: usize);
    /// Rounds four vectors of numbers, none of them NaN (ties to even), adds a zero point, limits the results, and writes the bytes of all
    /// one after the other.
    #[inline(always)]
    unsafe fn store_four(values: [Self; 4], zero_point: i32, [least, most]: [f32; 2], to: *mut i8) {
        for (index, value) in values.into_iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe {
                let limited = value.at_least(least).at_most(most);
                limited.store_bytes(zero_point, to.add(index * Self::COUNT), Self::COUNT);
            }
        }
    }
}
