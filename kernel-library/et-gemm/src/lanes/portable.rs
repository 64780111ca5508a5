//! Portable implementation: four lanes.
#![allow(unsafe_op_in_unsafe_fn, reason = "each method is one expression under the contract of the trait")]

use core::array::from_fn;
use core::ptr::copy_nonoverlapping;

use super::{HALF_EXPONENTS, Lanes};

/// 1.5 * 2^23: adding and subtracting this constant rounds to an integer.
const ROUNDER: f32 = 12_582_912.0;

/// Four `f32`.
#[derive(Clone, Copy)]
pub struct Portable([f32; 4]);

impl Portable {
    #[inline(always)]
    fn map(self, function: impl Fn(f32) -> f32) -> Self {
        Self(self.0.map(function))
    }

    #[inline(always)]
    fn zip(self, other: Self, function: impl Fn(f32, f32) -> f32) -> Self {
        Self(from_fn(|lane| function(self.0[lane], other.0[lane])))
    }
}

impl Lanes for Portable {
    type Words = [i32; 4];
    const COUNT: usize = 4;
    #[inline(always)]
    unsafe fn words(from: *const i32) -> [i32; 4] {
        from.cast::<[i32; 4]>().read_unaligned()
    }
    #[inline(always)]
    unsafe fn field(words: [i32; 4], shift: i32, mask: i32, flipped: i32) -> Self {
        Self(words.map(|word| (word >> shift & mask ^ flipped) as f32))
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Self([value; 4])
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        Self(from.cast::<[f32; 4]>().read_unaligned())
    }
    #[inline(always)]
    unsafe fn load_halves(from: *const u16) -> Self {
        let halves = from.cast::<[u16; 4]>().read_unaligned();
        Self(halves.map(|half| f32::from_bits(u32::from(half) << 13) * HALF_EXPONENTS))
    }
    #[inline(always)]
    unsafe fn load_unsigned(from: *const u8) -> Self {
        Self(from.cast::<[u8; 4]>().read_unaligned().map(f32::from))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        to.cast::<[f32; 4]>().write_unaligned(self.0);
    }
    #[inline(always)]
    unsafe fn load_part(from: *const f32, count: usize) -> Self {
        let mut all = [0.0; 4];
        copy_nonoverlapping(from.cast::<u8>(), all.as_mut_ptr().cast(), 4 * count.min(4));
        Self(all)
    }
    #[inline(always)]
    unsafe fn store_part(self, to: *mut f32, count: usize) {
        copy_nonoverlapping(self.0.as_ptr(), to, count.min(4));
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        self.zip(other, |left, right| left + right)
    }
    #[inline(always)]
    unsafe fn subtract(self, other: Self) -> Self {
        self.zip(other, |left, right| left - right)
    }
    #[inline(always)]
    unsafe fn multiply(self, other: Self) -> Self {
        self.zip(other, |left, right| left * right)
    }
    #[inline(always)]
    unsafe fn divide(self, other: Self) -> Self {
        self.zip(other, |left, right| left / right)
    }
    #[inline(always)]
    unsafe fn multiply_add(self, factor: Self, addend: Self) -> Self {
        Self(from_fn(|lane| self.0[lane] * factor.0[lane] + addend.0[lane]))
    }
    #[inline(always)]
    unsafe fn at_most(self, bound: f32) -> Self {
        self.map(|value| if value > bound { bound } else { value })
    }
    #[inline(always)]
    unsafe fn at_least(self, bound: f32) -> Self {
        self.map(|value| if value < bound { bound } else { value })
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        self.map(|value| (value + ROUNDER) - ROUNDER)
    }
    #[inline(always)]
    unsafe fn power_of_two(self) -> Self {
        self.map(|value| f32::from_bits(((value as i32 + 127) as u32) << 23))
    }
    #[inline(always)]
    unsafe fn from_sums(sums: *const i32, factors: Self::Words, factor: i32, addend: i32) -> Self {
        let sums = sums.cast::<[i32; 4]>().read_unaligned();
        let sum = |lane: usize| sums[lane].wrapping_add(addend).wrapping_add(factors[lane].wrapping_mul(factor));
        Self(from_fn(|lane| sum(lane) as f32))
    }
    #[inline(always)]
    unsafe fn load_bytes(from: *const i8, count: usize) -> Self {
        let mut all = [0i8; 4];
        copy_nonoverlapping(from, all.as_mut_ptr(), count.min(4));
        Self(all.map(f32::from))
    }
    #[inline(always)]
    unsafe fn store_bytes(self, zero_point: i32, to: *mut i8, count: usize) {
        let bytes = self.round().0.map(|value| (value as i32).wrapping_add(zero_point) as i8);
        copy_nonoverlapping(bytes.as_ptr(), to, count.min(4));
    }
}
