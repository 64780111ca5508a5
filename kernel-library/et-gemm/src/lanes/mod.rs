//! `f32` vectors per ISA, in which micro-kernels and epilogues are written.
#![allow(unsafe_code, reason = "instructions exist only on processors that have them, and memory is read by pointer")]

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
pub mod function;
#[cfg(target_arch = "aarch64")]
pub mod neon;
pub mod portable;

/// The factor that converts fp16 bits shifted into `f32` position: the exponent biases differ by 112.
pub const HALF_EXPONENTS: f32 = f32::from_bits((127 + 112) << 23);

/// A vector of `f32`.
///
/// # Safety
///
/// Every method requires a CPU with the implementation's ISA, and pointers valid for [`Lanes::COUNT`] elements, or for
/// `count` elements if the method has the parameter.
pub trait Lanes: Copy {
    /// The `i32` vector of the same length.
    type Words: Copy;
    /// Elements per vector.
    const COUNT: usize;
    /// Loads an `i32` vector.
    unsafe fn words(from: *const i32) -> Self::Words;
    /// `((word >> shift) & mask) ^ flipped` per lane, converted to `f32`.
    unsafe fn field(words: Self::Words, shift: i32, mask: i32, flipped: i32) -> Self;
    /// Prefetches a cache line into L2. Any address is allowed.
    #[inline(always)]
    unsafe fn prefetch(from: *const u8) {
        let _ = from;
    }
    /// Broadcasts a value.
    unsafe fn splat(value: f32) -> Self;
    /// Loads a vector.
    unsafe fn load(from: *const f32) -> Self;
    /// Loads a vector of non-negative fp16 (IEEE 754-2008 binary16), converted to `f32`.
    unsafe fn load_halves(from: *const u16) -> Self;
    /// Loads a vector of `u8`, converted to `f32`.
    unsafe fn load_unsigned(from: *const u8) -> Self;
    /// Stores a vector.
    unsafe fn store(self, to: *mut f32);
    /// Loads the first `count` elements; the remaining lanes are zero.
    unsafe fn load_part(from: *const f32, count: usize) -> Self;
    /// Stores the first `count` elements.
    unsafe fn store_part(self, to: *mut f32, count: usize);
    /// Sum.
    unsafe fn add(self, other: Self) -> Self;
    /// Difference.
    unsafe fn subtract(self, other: Self) -> Self;
    /// Product.
    unsafe fn multiply(self, other: Self) -> Self;
    /// Quotient.
    unsafe fn divide(self, other: Self) -> Self;
    /// `self * factor + addend`, fused where the ISA has FMA.
    unsafe fn multiply_add(self, factor: Self, addend: Self) -> Self;
    /// The minimum; `self` if `self` is NaN.
    unsafe fn at_most(self, bound: f32) -> Self;
    /// The maximum; `self` if `self` is NaN.
    unsafe fn at_least(self, bound: f32) -> Self;
    /// Rounds to the nearest integer, ties to even, for magnitudes below 2^22.
    unsafe fn round(self) -> Self;
    /// Two to the power of integers from -126 to 127.
    unsafe fn power_of_two(self) -> Self;
    /// `sums + factors * factor + addend` in wrapping `i32`, converted to `f32`.
    unsafe fn from_sums(sums: *const i32, factors: Self::Words, factor: i32, addend: i32) -> Self;
    /// Loads the first `count` int8, converted to `f32`.
    unsafe fn load_bytes(from: *const i8, count: usize) -> Self;
    /// Requantizes: rounds (ties to even), adds the zero point, and stores the first `count` int8. Results must be in
    /// the int8 range.
    unsafe fn store_bytes(self, zero_point: i32, to: *mut i8, count: usize);
    /// Requantizes four vectors without NaN: rounds (ties to even), adds the zero point, clamps, and stores contiguous
    /// int8.
    #[inline(always)]
    unsafe fn store_four(values: [Self; 4], zero_point: i32, [least, most]: [f32; 2], to: *mut i8) {
        for (index, value) in values.into_iter().enumerate() {
            // SAFETY: the caller upholds the contract of this function.
            unsafe {
                let limited = value.at_least(least).at_most(most);
                limited.store_bytes(zero_point, to.add(index * Self::COUNT), Self::COUNT);
            }
        }
    }
}
