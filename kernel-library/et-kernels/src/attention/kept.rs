//! The types in which keys and values are kept.
#![allow(unsafe_code)] // Reads through pointers.

use et_core::Half;
use et_simd::{Integer, Isa};

/// Numbers of the greatest square.
const SQUARE: usize = 16 * 16;

/// Keys or values.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    /// As they are computed with.
    Floats(&'a [f32]),
    /// In half precision.
    Halves(&'a [Half]),
    /// In bytes, with the four bytes of a scale behind the numbers of each row: an `f32`, least significant byte first.
    Bytes(&'a [i8]),
}

impl Numbers<'_> {
    /// How many there are.
    pub const fn len(&self) -> usize {
        match self {
            Self::Floats(numbers) => numbers.len(),
            Self::Halves(numbers) => numbers.len(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }

    /// How many elements a row of `width` numbers takes.
    pub const fn row(&self, width: usize) -> usize {
        width
            + match self {
                Self::Floats(_) => f32::BEHIND,
                Self::Halves(_) => Half::BEHIND,
                Self::Bytes(_) => i8::BEHIND,
            }
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A type of numbers that vectors are read from.
pub trait Kept: Copy {
    /// How many elements are behind the numbers of a row.
    const BEHIND: usize = 0;

    /// What the numbers of a row are multiplied with.
    ///
    /// # Safety
    /// `row` is valid for reads of `width` numbers and what is behind them.
    #[inline(always)]
    unsafe fn scale(_row: *const Self, _width: usize) -> f32 {
        1.0
    }

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

    /// The number as it is computed with, but for the scale of its row.
    fn number(self) -> f32;

    /// Writes the numbers from `at` on of [`Isa::LANES`] rows of `width` numbers, `step` elements apart: a square, with rows and
    /// columns exchanged, row after row.
    ///
    /// # Safety
    /// All rows are valid for reads, and `to` for writes of the square.
    #[inline(always)]
    unsafe fn transpose<S: Isa>(isa: S, rows: *const Self, step: usize, (at, width): (usize, usize), to: *mut f32) {
        let mut square = [0.0; SQUARE];
        // SAFETY: the caller's promise; the square has room for the most lanes.
        unsafe {
            for row in 0..S::LANES {
                let from = rows.add(row * step);
                let numbers = Self::read(isa, from.add(at)) * isa.splat(Self::scale(from, width));
                isa.write(square.as_mut_ptr().add(row * S::LANES), numbers);
            }
            isa.transpose(square.as_ptr(), S::LANES, to, S::LANES);
        }
    }

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
    unsafe fn transpose<S: Isa>(isa: S, rows: *const Self, step: usize, (at, _): (usize, usize), to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { isa.transpose(rows.add(at), step, to, S::LANES) }
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
}

impl Kept for i8 {
    const BEHIND: usize = size_of::<f32>();
    #[inline(always)]
    unsafe fn scale(row: *const Self, width: usize) -> f32 {
        // SAFETY: the caller's promise; a byte may be anywhere.
        f32::from_le_bytes(unsafe { row.add(width).cast::<[u8; 4]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn read<S: Isa>(isa: S, from: *const Self) -> S::F32 {
        // SAFETY: the caller's promise.
        unsafe { isa.read_i8(from) }.to_float()
    }
    #[inline(always)]
    unsafe fn read_part<S: Isa>(isa: S, from: *const Self, count: usize) -> S::F32 {
        // SAFETY: the caller's promise.
        unsafe { isa.read_i8_part(from, count) }.to_float()
    }
    #[inline(always)]
    fn number(self) -> f32 {
        self.into()
    }
}
