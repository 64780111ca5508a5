//! The arithmetic of depthwise convolution, for `f32` and int8.
#![allow(unsafe_code)] // Reads and writes through pointers.

use et_simd::Simd;

/// Lanes per vector.
pub const fn lanes<A: Arithmetic>() -> usize {
    <A::Isa as Simd>::LANES
}

/// A dot product per lane. Each lane holds a sliding window of the last [`Arithmetic::TAPS`] elements.
pub trait Arithmetic: Copy {
    /// The ISA.
    type Isa: Simd;
    /// The element type of the tensors.
    type Number: Copy + Default;
    /// Elements of neighbouring pixels, or accumulators: a 32-bit word per lane.
    type Vector: Copy;
    /// Elements per lane.
    const TAPS: usize;

    /// The padding value.
    fn padding(self) -> Self::Number;
    /// Zeros.
    fn empty(self) -> Self::Vector;
    /// Drops the oldest `N` elements of each lane and appends the elements at each of the `N` pointers, a lane per
    /// consecutive address.
    ///
    /// # Safety
    /// Each pointer is valid for a vector of elements, and `N` is 1 or 2, and at most [`Arithmetic::TAPS`].
    unsafe fn shift_in<const N: usize>(self, vector: Self::Vector, from: [*const Self::Number; N]) -> Self::Vector;
    /// Prepares weights as the operand of the dot product.
    fn weights(self, vector: Self::Vector) -> Self::Vector;
    /// Loads a vector.
    ///
    /// # Safety
    /// `from` is valid for reads of a vector.
    unsafe fn read(self, from: *const u32) -> Self::Vector;
    /// Stores a vector.
    ///
    /// # Safety
    /// `to` is valid for writes of a vector.
    unsafe fn write(self, to: *mut u32, vector: Self::Vector);
    /// Initial accumulators (the bias) for `lanes` channels.
    fn start(self, channel: usize, lanes: usize) -> Self::Vector;
    /// Whether padding (the input zero point) contributes to the accumulators and must be subtracted.
    const PADDING_ADDS: bool;
    /// Subtracts the contribution of the padding value.
    fn less_padding(self, sum: Self::Vector, weights: Self::Vector) -> Self::Vector;
    /// Adds accumulators.
    fn plus(self, left: Self::Vector, right: Self::Vector) -> Self::Vector;
    /// Accumulates the dot product of elements and [`Arithmetic::weights`].
    fn add(self, sum: Self::Vector, numbers: Self::Vector, weights: Self::Vector) -> Self::Vector;
    /// The epilogue: writes the first `count` pixels, `step` elements apart.
    ///
    /// # Safety
    /// `to` has room for `lanes` channels of each pixel.
    unsafe fn finish<const P: usize>(self, sums: [Self::Vector; P], count: usize, to: To<Self::Number>);
}

/// The destination of an epilogue.
#[derive(Clone, Copy)]
pub struct To<T> {
    /// The first channel of the first pixel.
    pub first: *mut T,
    /// Pixel stride in elements.
    pub step: usize,
    /// The index of the first channel.
    pub channel: usize,
    /// The number of channels.
    pub lanes: usize,
}

impl<T> To<T> {
    /// The first channel of a pixel.
    #[inline(always)]
    pub const fn pixel(&self, index: usize) -> *mut T {
        self.first.wrapping_add(index * self.step)
    }
}
