//! The memory of a delegate call as slices.
#![allow(unsafe_code, reason = "operands are memory that the caller lends; bounds are checked here")]

use et_core::{Access, Args, Error, Result};
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
    /// [`Error::InvalidProgram`] outside the argument, and where a written operand overlaps.
    pub fn read<'m>(&mut self, arguments: &'m Args<'_, 'm>, index: usize, size: usize) -> Result<&'m [u8]> {
        let start = self.claim(arguments, index, size, false)?;
        // SAFETY: the argument has `size` bytes, and the second operand does not write there.
        Ok(unsafe { core::slice::from_raw_parts(start, size) })
    }

    /// The first `size` bytes of an argument, for writing.
    ///
    /// # Errors
    /// As [`Self::read`], and for constant memory.
    pub fn write<'m>(&mut self, arguments: &'m Args<'_, 'm>, index: usize, size: usize) -> Result<&'m mut [u8]> {
        let start = self.claim(arguments, index, size, true)?;
        // SAFETY: the argument has `size` writable bytes, and the other operand does not overlap.
        Ok(unsafe { core::slice::from_raw_parts_mut(start, size) })
    }

    fn claim(&mut self, arguments: &Args<'_, '_>, index: usize, size: usize, writes: bool) -> Result<*mut u8> {
        let tensor = arguments.tensor(index)?;
        let start = tensor.data();
        let fits = size <= tensor.nbytes() && !start.is_null() && !(writes && tensor.access() == Access::Constant);
        if !fits {
            return Err(Error::InvalidProgram);
        }
        self.claims.add(start.addr()..start.addr() + size, writes)?;
        Ok(start)
    }
}
