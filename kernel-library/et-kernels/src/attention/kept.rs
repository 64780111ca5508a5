//! The types in which keys and values are kept.
#![allow(unsafe_code)] // Reads through pointers.

use et_core::Half;
use et_simd::Isa;

/// Numbers of the greatest square.
const SQUARE: usize = 16 * 16;

/// Keys or values.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    /// As they are computed with.
    Floats(&'a [f32]),
    /// In half precision.
    Halves(&'a [Half]),
}

impl<'a> From<&'a [f32]> for Numbers<'a> {
    fn from(numbers: &'a [f32]) -> Self {
        Self::Floats(numbers)
    }
}

impl Numbers<'_> {
    /// How many there are.
    pub const fn len(&self) -> usize {
        match self {
            Self::Floats(numbers) => numbers.len(),
            Self::Halves(numbers) => numbers.len(),
        }
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A type of numbers that vectors are read from.
pub trait Kept: Copy {
    /// Reads a vector.
    ///
    /// # Safety
    /// `from` is valid for reads of [`Isa::LANES`] numbers.
    unsafe fn read<S: Isa>(isa: S, from: *const Self) -> S::F32;

    /// Reads the first lanes of a vector. The others are 0.
    ///
    /// # Safety
    /// `from` is valid for reads of `count` numbers, which are fewer than [`Isa::LANES`].
    unsafe fn read_part<S: Isa>(isa: S, from: *const Self, count: usize) -> S::F32;

    /// The number as it is computed with.
    fn number(self) -> f32;

    /// Writes a square of [`Isa::LANES`] rows, `step` numbers apart, with rows and columns exchanged, row after row.
    ///
    /// # Safety
    /// All rows are valid for reads, and `to` for writes of the square.
    unsafe fn transpose<S: Isa>(isa: S, from: *const Self, step: usize, to: *mut f32);

    /// Reads at most a vector. Lanes from `count` on are 0.
    ///
    /// # Safety
    /// `from` is valid for reads of `count` numbers, or of [`Isa::LANES`] if those are fewer.
    #[inline(always)]
    unsafe fn read_some<S: Isa>(isa: S, from: *const Self, count: usize) -> S::F32 {
        // SAFETY: the caller's promise.
        unsafe { if count >= S::LANES { Self::read(isa, from) } else { Self::read_part(isa, from, count) } }
    }
}

impl Kept for f32 {
    #[inline(always)]
    unsafe fn read<S: Isa>(isa: S, from: *const Self) -> S::F32 {
        // SAFETY: the caller's promise.
        unsafe { isa.read(from) }
    }
    #[inline(always)]
    unsafe fn read_part<S: Isa>(isa: S, from: *const Self, count: usize) -> S::F32 {
        // SAFETY: the caller's promise.
        unsafe { isa.read_part(from, count) }
    }
    #[inline(always)]
    fn number(self) -> f32 {
        self
    }
    #[inline(always)]
    unsafe fn transpose<S: Isa>(isa: S, from: *const Self, step: usize, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { isa.transpose(from, step, to, S::LANES) }
    }
}

impl Kept for Half {
    #[inline(always)]
    unsafe fn read<S: Isa>(isa: S, from: *const Self) -> S::F32 {
        // SAFETY: the caller's promise; a `Half` is its bits.
        unsafe { isa.read_halves(from.cast()) }
    }
    #[inline(always)]
    unsafe fn read_part<S: Isa>(isa: S, from: *const Self, count: usize) -> S::F32 {
        // SAFETY: the caller's promise; a `Half` is its bits.
        unsafe { isa.read_halves_part(from.cast(), count) }
    }
    #[inline(always)]
    fn number(self) -> f32 {
        self.to_f32()
    }
    #[inline(always)]
    unsafe fn transpose<S: Isa>(isa: S, from: *const Self, step: usize, to: *mut f32) {
        let mut square = [0.0; SQUARE];
        // SAFETY: the caller's promise; the square has room for the most lanes.
        unsafe {
            for row in 0..S::LANES {
                isa.write(square.as_mut_ptr().add(row * S::LANES), Self::read(isa, from.add(row * step)));
            }
            isa.transpose(square.as_ptr(), S::LANES, to, S::LANES);
        }
    }
}
