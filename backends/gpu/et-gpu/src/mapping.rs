//! Memory that the host and a device access, and copies between it and the tensors of a call.
#![allow(unsafe_code, reason = "copies through pointers")]

use core::ops::Range;
use core::ptr::NonNull;

use et_core::{Access, Error, Tensor};

use crate::problem::Outcome;

/// The mapped bytes of memory of a device.
pub struct Mapping {
    start: NonNull<u8>,
    size: u64,
}

// SAFETY: copies through a mapping are synchronized by the owner of the memory.
unsafe impl Send for Mapping {}
// SAFETY: as before.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// The mapping of `size` bytes.
    ///
    /// # Safety
    /// The bytes exist as long as the mapping, and no kernel accesses them during a copy.
    pub const unsafe fn new(start: NonNull<u8>, size: u64) -> Self {
        Self { start, size }
    }

    /// Copies bytes `range` of a tensor to offset `offset`, and fills the last 4 bytes with zeros.
    pub fn write(&self, offset: u64, tensor: &Tensor<'_>, range: Range<usize>) -> Outcome<()> {
        if range.start > range.end || range.end > tensor.nbytes() || (tensor.data().is_null() && !range.is_empty()) {
            return Err(Error::AccessFailed.into());
        }
        let padding = range.len().next_multiple_of(4) - range.len();
        let start = self.place(offset, range.len() + padding)?;
        // SAFETY: the tensor has the range, `place` checked the target, and no other copy accesses the target now.
        unsafe {
            core::ptr::copy_nonoverlapping(tensor.data().add(range.start), start, range.len());
            core::ptr::write_bytes(start.add(range.len()), 0, padding);
        }
        Ok(())
    }

    /// Copies the bytes from offset `offset` to bytes `range` of a tensor.
    pub fn read(&self, offset: u64, tensor: &Tensor<'_>, range: Range<usize>) -> Outcome<()> {
        let fits = range.start <= range.end && range.end <= tensor.nbytes();
        if !fits || tensor.access() == Access::Constant || tensor.data().is_null() {
            return Err(Error::AccessFailed.into());
        }
        let start = self.place(offset, range.len())?;
        // SAFETY: the tensor is writable and has the range, `place` checked the source, and no kernel accesses the source now.
        unsafe {
            core::ptr::copy_nonoverlapping(start.cast_const(), tensor.data().add(range.start), range.len());
        }
        Ok(())
    }

    /// The start of bytes.
    fn place(&self, offset: u64, size: usize) -> Outcome<*mut u8> {
        let end = offset.checked_add(size as u64).ok_or(Error::Internal)?;
        if end > self.size {
            return Err(Error::Internal.into());
        }
        // SAFETY: the mapping has the offset.
        Ok(unsafe { self.start.as_ptr().add(offset as usize) })
    }
}
