//! The memory of a delegate call: operands as slices.
#![allow(unsafe_code, reason = "operands are parts of memory that the caller lends; bounds are checked here")]

use core::cell::Cell;

use et_core::{Args, Error, Plain, Result};
use et_runtime::Claims;

use crate::{Blob, Channel, Channel16, Place, Row};

// SAFETY: `Channel` consists of three integers without padding.
unsafe impl Plain for Channel {}
// SAFETY: as above, of four integers.
unsafe impl Plain for Channel16 {}
// SAFETY: as above, of an integer and a number.
unsafe impl Plain for FloatChannel {}

/// The constants of an output channel of a convolution to float32.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FloatChannel {
    /// What the accumulator begins with.
    pub bias: i32,
    /// The scale of the accumulator.
    pub scale: f32,
}

/// The operands of an instruction: no written operand overlaps another operand.
pub struct Operands<'m, 'a> {
    blob: Blob<'a>,
    arguments: &'m Args<'a, 'm>,
    claims: Claims<MOST>,
}

/// The maximum number of operands of an instruction.
const MOST: usize = 5;

impl<'m, 'a> Operands<'m, 'a> {
    /// No operands yet.
    pub const fn new(blob: Blob<'a>, arguments: &'m Args<'a, 'm>) -> Self {
        Self { blob, arguments, claims: Claims::new() }
    }

    /// The row that the constants are packed for.
    pub fn row(&self) -> Row {
        if cfg!(target_os = "none") {
            return Row::SELECTED;
        }
        Row::from_number(self.blob.header().row).unwrap_or(Row::SELECTED)
    }

    /// `count` elements that the instruction reads.
    ///
    /// # Errors
    /// [`Error::InvalidProgram`] outside the argument, without alignment, or where the instruction writes.
    pub fn read<T: Plain>(&mut self, place: Place, count: usize) -> Result<&'m [T]> {
        if place.argument == Place::CONSTANT {
            return self.constant(place.offset, count);
        }
        let start = self.claim::<T>(place, count, false)?;
        // SAFETY: the argument has `count` aligned elements, and no kernel writes to them while the instruction runs.
        Ok(unsafe { core::slice::from_raw_parts(start, count) })
    }

    /// `count` elements that the instruction writes.
    ///
    /// # Errors
    /// As [`Operands::read`], and where another operand overlaps.
    pub fn write<T: Plain>(&mut self, place: Place, count: usize) -> Result<&'m mut [T]> {
        let start = self.claim::<T>(place, count, true)?;
        // SAFETY: the argument has `count` aligned writable elements, and no other operand of the instruction overlaps.
        Ok(unsafe { core::slice::from_raw_parts_mut(start, count) })
    }

    /// `count` elements that may lie in the same memory as those of another operand.
    ///
    /// # Errors
    /// As of [`Operands::read`], but for an overlap.
    pub fn cells<T: Plain>(&self, place: Place, count: usize, writes: bool) -> Result<&'m [Cell<T>]> {
        let start = Self::new(self.blob, self.arguments).claim::<T>(place, count, writes)?.cast::<Cell<T>>();
        // SAFETY: the argument has `count` aligned elements, which are writable where they are written, and other operands of the instruction
        // are cells too.
        Ok(unsafe { core::slice::from_raw_parts(start, count) })
    }

    /// `count` elements of the blob's constants.
    ///
    /// # Errors
    /// [`Error::InvalidProgram`] outside the blob, or without alignment.
    pub fn constant<T: Plain>(&self, offset: u32, count: usize) -> Result<&'m [T]>
    where
        'a: 'm,
    {
        let size = count.checked_mul(size_of::<T>()).ok_or(Error::InvalidProgram)?;
        let bytes = self.blob.constants().get(offset as usize..).and_then(|rest| rest.get(..size));
        let start = bytes.ok_or(Error::InvalidProgram)?.as_ptr().cast::<T>();
        if !start.is_aligned() {
            return Err(Error::InvalidProgram);
        }
        // SAFETY: the blob has `count` aligned elements there; a program file is never written.
        Ok(unsafe { core::slice::from_raw_parts(start, count) })
    }

    fn claim<T: Plain>(&mut self, place: Place, count: usize, writes: bool) -> Result<*mut T> {
        let tensor = self.arguments.tensor(place.argument as usize)?;
        let size = count.checked_mul(size_of::<T>()).ok_or(Error::InvalidProgram)?;
        let start = self.claims.add_part(&tensor, place.offset as usize, size, writes)?.cast::<T>();
        if start.is_aligned() { Ok(start) } else { Err(Error::InvalidProgram) }
    }
}
