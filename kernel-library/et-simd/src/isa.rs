//! An instruction set, and work that any of them can do.
#![allow(unsafe_code)] // Reads and writes through pointers, behind the safe access to slices.

use crate::{Float, Integer};

/// Work on vectors. All that it calls on the way to them has to be `#[inline(always)]`, closures included, or it is not
/// compiled for their instructions.
pub trait Work {
    /// What the work results in.
    type Output;
    /// Does the work with the given instructions.
    fn run<S: Isa>(self, isa: S) -> Self::Output;
}

/// An instruction set. A value of it exists only where the processor has the instructions.
pub trait Isa: Copy + Send + Sync + core::fmt::Debug + 'static {
    /// What people call it.
    const NAME: &'static str;
    /// How many numbers of 32 bits are in a vector.
    const LANES: usize;
    /// How many vectors the processor has registers for.
    const REGISTERS: usize;
    /// A vector of `f32`.
    type F32: Float<Integer = Self::I32, Mask = Self::Mask>;
    /// A vector of `i32`.
    type I32: Integer<Float = Self::F32>;
    /// A truth for every lane.
    type Mask: Copy;

    /// Does work whose parts are compiled for these instructions.
    fn vectorize<W: Work>(self, work: W) -> W::Output;
    /// The same number in all lanes.
    fn splat(self, number: f32) -> Self::F32;
    /// The same integer in all lanes.
    fn splat_i32(self, number: i32) -> Self::I32;

    /// Reads a vector.
    ///
    /// # Safety
    /// `from` is valid for reads of [`Isa::LANES`] numbers.
    unsafe fn read(self, from: *const f32) -> Self::F32;
    /// Reads the first lanes of a vector. The others are 0.
    ///
    /// # Safety
    /// `from` is valid for reads of `count` numbers, which are fewer than [`Isa::LANES`].
    unsafe fn read_part(self, from: *const f32, count: usize) -> Self::F32;
    /// Writes a vector.
    ///
    /// # Safety
    /// `to` is valid for writes of [`Isa::LANES`] numbers.
    unsafe fn write(self, to: *mut f32, vector: Self::F32);
    /// Writes the first lanes of a vector.
    ///
    /// # Safety
    /// `to` is valid for writes of `count` numbers, which are fewer than [`Isa::LANES`].
    unsafe fn write_part(self, to: *mut f32, count: usize, vector: Self::F32);
    /// Reads a vector of integers.
    ///
    /// # Safety
    /// `from` is valid for reads of [`Isa::LANES`] integers.
    unsafe fn read_i32(self, from: *const i32) -> Self::I32;
    /// Writes a vector of integers.
    ///
    /// # Safety
    /// `to` is valid for writes of [`Isa::LANES`] integers.
    unsafe fn write_i32(self, to: *mut i32, vector: Self::I32);
    /// Reads bytes, one for each lane.
    ///
    /// # Safety
    /// `from` is valid for reads of [`Isa::LANES`] bytes.
    unsafe fn read_i8(self, from: *const i8) -> Self::I32;
    /// Writes each lane as a byte, the nearest one where it does not fit.
    ///
    /// # Safety
    /// `to` is valid for writes of [`Isa::LANES`] bytes.
    unsafe fn write_i8(self, to: *mut i8, vector: Self::I32);

    /// Reads numbers of half precision, none of them infinite.
    ///
    /// # Safety
    /// `from` is valid for reads of [`Isa::LANES`] of them.
    unsafe fn read_halves(self, from: *const u16) -> Self::F32;

    /// Reads numbers of half precision into the first lanes. The others are 0.
    ///
    /// # Safety
    /// `from` is valid for reads of `count` of them, which are fewer than [`Isa::LANES`].
    #[inline(always)]
    unsafe fn read_halves_part(self, from: *const u16, count: usize) -> Self::F32 {
        let mut halves = [0; MOST_LANES];
        for (lane, half) in halves.iter_mut().enumerate().take(count) {
            // SAFETY: the caller says that there are `count` of them.
            *half = unsafe { *from.add(lane) };
        }
        // SAFETY: no instruction set has more lanes than there are numbers.
        unsafe { self.read_halves(halves.as_ptr()) }
    }

    /// Reads bytes into the first lanes. The others are 0.
    ///
    /// # Safety
    /// `from` is valid for reads of `count` bytes, which are fewer than [`Isa::LANES`].
    #[inline(always)]
    unsafe fn read_i8_part(self, from: *const i8, count: usize) -> Self::I32 {
        let mut bytes = [0; MOST_LANES];
        for (lane, byte) in bytes.iter_mut().enumerate().take(count) {
            // SAFETY: the caller says that there are `count` bytes.
            *byte = unsafe { *from.add(lane) };
        }
        // SAFETY: no instruction set has more lanes than there are bytes.
        unsafe { self.read_i8(bytes.as_ptr()) }
    }

    /// Writes the first lanes as bytes, the nearest one where a lane does not fit.
    ///
    /// # Safety
    /// `to` is valid for writes of `count` bytes, which are fewer than [`Isa::LANES`].
    #[inline(always)]
    unsafe fn write_i8_part(self, to: *mut i8, count: usize, vector: Self::I32) {
        let mut bytes = [0; MOST_LANES];
        // SAFETY: no instruction set has more lanes than there are bytes.
        unsafe { self.write_i8(bytes.as_mut_ptr(), vector) };
        for (lane, byte) in bytes.iter().enumerate().take(count) {
            // SAFETY: the caller says that there is room for `count` bytes.
            unsafe { *to.add(lane) = *byte };
        }
    }

    /// Writes a square of [`Isa::LANES`] rows, each `from_step` numbers after the one before, with rows and columns
    /// exchanged, rows `to_step` apart.
    ///
    /// # Safety
    /// All rows of `from` are valid for reads, and those of `to` for writes, and they do not overlap.
    #[inline(always)]
    unsafe fn transpose(self, from: *const f32, from_step: usize, to: *mut f32, to_step: usize) {
        for row in 0..Self::LANES {
            for column in 0..Self::LANES {
                // SAFETY: both are within the squares that the caller gives.
                unsafe { *to.add(column * to_step + row) = *from.add(row * from_step + column) };
            }
        }
    }

    /// Replaces every byte by the entry of a table: `table[0]` is for -128, `table[255]` for 127. As many bytes as the
    /// shorter of both slices has.
    #[inline(always)]
    fn look_up(self, table: &[i8; 256], input: &[i8], output: &mut [i8]) {
        for (output, &input) in output.iter_mut().zip(input) {
            *output = table[usize::from(input.cast_unsigned() ^ 0x80)];
        }
    }

    /// The numbers from index `at` on. Lanes past the end are 0.
    #[inline(always)]
    fn load(self, numbers: &[f32], at: usize) -> Self::F32 {
        let Some(rest) = numbers.get(at..) else { return self.splat(0.0) };
        if rest.len() >= Self::LANES {
            // SAFETY: there are enough.
            unsafe { self.read(rest.as_ptr()) }
        } else {
            // SAFETY: there are as many.
            unsafe { self.read_part(rest.as_ptr(), rest.len()) }
        }
    }

    /// Stores the lanes from index `at` on. Those past the end are dropped.
    #[inline(always)]
    fn store(self, numbers: &mut [f32], at: usize, vector: Self::F32) {
        let Some(rest) = numbers.get_mut(at..) else { return };
        if rest.len() >= Self::LANES {
            // SAFETY: there is room.
            unsafe { self.write(rest.as_mut_ptr(), vector) }
        } else {
            // SAFETY: there is room for as many.
            unsafe { self.write_part(rest.as_mut_ptr(), rest.len(), vector) }
        }
    }

    /// The bytes from index `at` on, one for each lane. Lanes past the end are 0.
    #[inline(always)]
    fn load_i8(self, bytes: &[i8], at: usize) -> Self::I32 {
        let Some(rest) = bytes.get(at..) else { return self.splat_i32(0) };
        if rest.len() >= Self::LANES {
            // SAFETY: there are enough.
            unsafe { self.read_i8(rest.as_ptr()) }
        } else {
            // SAFETY: there are as many.
            unsafe { self.read_i8_part(rest.as_ptr(), rest.len()) }
        }
    }

    /// Stores the lanes as bytes from index `at` on, the nearest byte where a lane does not fit. Those past the end are
    /// dropped.
    #[inline(always)]
    fn store_i8(self, bytes: &mut [i8], at: usize, vector: Self::I32) {
        let Some(rest) = bytes.get_mut(at..) else { return };
        if rest.len() >= Self::LANES {
            // SAFETY: there is room.
            unsafe { self.write_i8(rest.as_mut_ptr(), vector) }
        } else {
            // SAFETY: there is room for as many.
            unsafe { self.write_i8_part(rest.as_mut_ptr(), rest.len(), vector) }
        }
    }
}

/// The most lanes that an instruction set has.
const MOST_LANES: usize = 16;
