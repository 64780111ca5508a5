//! Vectors of sums of products of bytes: four products a lane and step.
#![allow(unsafe_code, reason = "instructions exist only on processors that have them, and memory is read by pointer")]

use crate::lanes::Lanes;

/// Vectors of sums. Weights are four bytes a lane; of the activation, four bytes go to all lanes.
///
/// # Safety
///
/// Every method needs a processor with the instructions of the implementation, and valid pointers.
pub trait Dots: Copy {
    /// Weights of a vector, as the products take them.
    type Weights: Copy;
    /// Four bytes of an activation, as the products take them.
    type Activation: Copy;
    /// The vector of `f32` with as many lanes.
    type Real: Lanes;
    /// Lanes.
    const LANES: usize;
    /// Sums of zero.
    unsafe fn zero() -> Self;
    /// Reads the weights of a vector: four bytes a lane.
    unsafe fn weights(from: *const u8) -> Self::Weights;
    /// Reads eight half bytes a lane, from 0 to 15: the low halves, then the high ones.
    unsafe fn nibbles(from: *const u8) -> [Self::Weights; 2];
    /// Sums that are all equal.
    unsafe fn splat(value: i32) -> Self;
    /// The sums as real numbers.
    unsafe fn real(self) -> Self::Real;
    /// Spreads four bytes.
    unsafe fn spread(word: i32) -> Self::Activation;
    /// Adds four products to each lane.
    unsafe fn add(self, weights: Self::Weights, activation: Self::Activation) -> Self;
    /// Adds lanes.
    unsafe fn plus(self, other: Self) -> Self;
    /// Writes the sums.
    unsafe fn store(self, to: *mut i32);
    /// Asks for some bytes that are read soon. The address may be any.
    #[inline(always)]
    fn prefetch(from: *const u8, count: usize) {
        let _ = (from, count);
    }
    /// Bytes that [`Self::take_chunk`] reads.
    const CHUNK: usize = 1;
    /// Adds the bytes of a chunk to lanes, and copies them unless `to` is null.
    #[inline(always)]
    unsafe fn take_chunk(self, from: *const i8, to: *mut i8) -> Self {
        let _ = (from, to);
        self
    }
    /// The same for fewer bytes than a chunk, of which a whole one may be written; sums that go to no lane are added to `rest`.
    #[inline(always)]
    unsafe fn take_rest(self, from: *const i8, to: *mut i8, count: usize, rest: i32) -> (Self, i32) {
        let mut sum = rest;
        for index in 0..count {
            // SAFETY: the caller's promise.
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

/// Four bytes as a word.
///
/// # Safety
///
/// `from` is valid for four bytes.
#[inline(always)]
pub unsafe fn word(from: *const i8) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { from.cast::<i32>().read_unaligned() }
}

/// The first `count` bytes, less than four, as a word; the others are zero.
///
/// # Safety
///
/// `from` is valid for `count` bytes.
#[inline(always)]
pub unsafe fn part_of_word(from: *const i8, count: usize) -> i32 {
    let mut bytes = [0; 4];
    for (index, byte) in bytes.iter_mut().enumerate().take(count) {
        // SAFETY: the caller's promise.
        *byte = unsafe { *from.add(index) } as u8;
    }
    i32::from_ne_bytes(bytes)
}

/// Plain code: four lanes.
pub mod portable {
    use super::{Dots, Lanes};
    use core::array::from_fn;

    /// Four sums.
    #[derive(Clone, Copy)]
    pub struct Portable([i32; 4]);

    impl Dots for Portable {
        type Weights = [[i8; 4]; 4];
        type Activation = [i8; 4];
        type Real = crate::lanes::portable::Portable;
        const LANES: usize = 4;
        #[inline(always)]
        unsafe fn zero() -> Self {
            Self([0; 4])
        }
        #[inline(always)]
        unsafe fn weights(from: *const u8) -> Self::Weights {
            // SAFETY: the caller's promise.
            unsafe { from.cast::<[[i8; 4]; 4]>().read() }
        }
        #[inline(always)]
        unsafe fn nibbles(from: *const u8) -> [Self::Weights; 2] {
            // SAFETY: the caller's promise.
            let bytes = unsafe { from.cast::<[[u8; 4]; 4]>().read() };
            [bytes.map(|lane| lane.map(|byte| (byte & 15) as i8)), bytes.map(|lane| lane.map(|byte| (byte >> 4) as i8))]
        }
        #[inline(always)]
        unsafe fn splat(value: i32) -> Self {
            Self([value; 4])
        }
        #[inline(always)]
        unsafe fn real(self) -> Self::Real {
            // SAFETY: four sums and four factors are read.
            unsafe { Self::Real::from_sums(self.0.as_ptr(), [0; 4], 0, 0) }
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
            // SAFETY: the caller's promise.
            unsafe { to.cast::<[i32; 4]>().write(self.0) }
        }
    }
}
