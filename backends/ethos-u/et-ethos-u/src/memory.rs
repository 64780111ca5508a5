//! The memory of a delegate call as slices.
#![allow(unsafe_code, reason = "operands are memory that the caller lends; bounds are checked here")]

use et_core::{Args, Result};
use et_runtime::Claims;

/// Two operands at a time: the scratch memory and an input or output.
const MOST: usize = 2;

/// The scratch memory of a call and one further operand, which do not overlap.
#[derive(Default)]
pub struct Operands {
    claims: Claims<MOST>,
}

impl Operands {
    /// The first `size` bytes of an argument, for reading.
    ///
    /// # Errors
    /// [`et_core::Error::InvalidProgram`] outside the argument, and where a written operand overlaps.
    pub fn read<'m>(&mut self, arguments: &'m Args<'_, 'm>, index: usize, size: usize) -> Result<&'m [u8]> {
        let start = self.claims.add_part(&arguments.tensor(index)?, 0, size, false)?;
        // SAFETY: the argument has `size` bytes, and the second operand does not write there.
        Ok(unsafe { core::slice::from_raw_parts(start, size) })
    }

    /// The first `size` bytes of an argument, for writing.
    ///
    /// # Errors
    /// As [`Self::read`], and for constant memory.
    pub fn write<'m>(&mut self, arguments: &'m Args<'_, 'm>, index: usize, size: usize) -> Result<&'m mut [u8]> {
        let start = self.claims.add_part(&arguments.tensor(index)?, 0, size, true)?;
        // SAFETY: the argument has `size` writable bytes, and the other operand does not overlap.
        Ok(unsafe { core::slice::from_raw_parts_mut(start, size) })
    }
}
