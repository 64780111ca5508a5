//! What convolution is made of, for numbers and for bytes.
#![allow(unsafe_code)] // Reads and writes through pointers.

use et_simd::Isa;

/// The lanes of vectors.
pub const fn lanes<A: Arithmetic>() -> usize {
    <A::Isa as Isa>::LANES
}

/// Sums of products. Numbers enter vectors one for each lane, which has the last [`Arithmetic::TAPS`] of them.
pub trait Arithmetic: Copy {
    /// The instruction set.
    type Isa: Isa;
    /// What tensors have.
    type Number: Copy + Default;
    /// Numbers of neighbouring pixels, or sums: as many 32-bit words as a vector has lanes.
    type Vector: Copy;
    /// How many numbers a lane has.
    const TAPS: usize;

    /// What pixels outside of the image have.
    fn padding(self) -> Self::Number;
    /// Zeros.
    fn empty(self) -> Self::Vector;
    /// Drops the first `N` numbers of each lane, and appends as many, one of each place.
    ///
    /// # Safety
    /// Places have a number for each lane, and `N` is 1 or 2, and at most [`Arithmetic::TAPS`].
    unsafe fn shift_in<const N: usize>(self, vector: Self::Vector, from: [*const Self::Number; N]) -> Self::Vector;
    /// Weights, as products take them.
    fn weights(self, vector: Self::Vector) -> Self::Vector;
    /// Reads a vector.
    ///
    /// # Safety
    /// It is there.
    unsafe fn read(self, from: *const u32) -> Self::Vector;
    /// Writes a vector.
    ///
    /// # Safety
    /// There is room.
    unsafe fn write(self, to: *mut u32, vector: Self::Vector);
    /// What sums start at for `lanes` channels.
    fn start(self, channel: usize, lanes: usize) -> Self::Vector;
    /// Whether padding adds to sums, which has to be subtracted then.
    const PADDING_ADDS: bool;
    /// The sum, less what padding adds to it.
    fn less_padding(self, sum: Self::Vector, weights: Self::Vector) -> Self::Vector;
    /// The sum of sums.
    fn plus(self, left: Self::Vector, right: Self::Vector) -> Self::Vector;
    /// The sum, and the products of numbers and [`Arithmetic::weights`].
    fn add(self, sum: Self::Vector, numbers: Self::Vector, weights: Self::Vector) -> Self::Vector;
    /// Writes the results of the first `count` pixels, each `step` numbers after the one before.
    ///
    /// # Safety
    /// There is room for `lanes` channels of each.
    unsafe fn finish<const P: usize>(self, sums: [Self::Vector; P], count: usize, to: To<Self::Number>);
}

/// Where results go.
#[derive(Clone, Copy)]
pub struct To<T> {
    /// The first pixel's first channel.
    pub first: *mut T,
    /// From a pixel to the next.
    pub step: usize,
    /// The first channel.
    pub channel: usize,
    /// How many there are.
    pub lanes: usize,
}

impl<T> To<T> {
    /// The first channel of a pixel.
    #[inline(always)]
    pub const fn pixel(&self, index: usize) -> *mut T {
        self.first.wrapping_add(index * self.step)
    }
}
