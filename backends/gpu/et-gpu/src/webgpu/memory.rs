//! Buffers of the browser, in which the objects of a blob have places, and copies between them and the tensors of a call.
#![allow(unsafe_code, reason = "copies between the page and the memory of tensors")]

use core::ops::Range;
use std::sync::Arc;

use et_core::{Access, Error, Tensor};

use super::calls;
use super::device::Device;
pub use super::usage::Use;
use crate::device_memory::{Counted, Purpose};
use crate::problem::Outcome;

/// A buffer of the browser.
pub struct Memory {
    number: u32,
    size: u32,
    // Released after the buffer.
    _device: Arc<Device>,
    _counted: Counted,
}

impl Memory {
    /// Allocates `size` bytes; a page has one type of memory.
    pub fn allocate(device: &Arc<Device>, size: u64, _types: u32, _usage: Use, purpose: Purpose) -> Outcome<Arc<Self>> {
        device.check()?;
        let size = u32::try_from(size).map_err(|_| Error::DelegateMemoryAllocationFailed)?;
        let number = calls::buffer(device.number(), size);
        Ok(Arc::new(Self { number, size, _device: Arc::clone(device), _counted: Counted::new(purpose, size.into()) }))
    }

    /// The number for calls.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Copies bytes `range` of a tensor to offset `offset`, and fills the last 4 bytes with zeros.
    pub fn write(&self, offset: u64, tensor: &Tensor<'_>, range: Range<usize>) -> Outcome<()> {
        if range.start > range.end || range.end > tensor.nbytes() || (tensor.data().is_null() && !range.is_empty()) {
            return Err(Error::AccessFailed.into());
        }
        let offset = self.place(offset, range.len().next_multiple_of(4))?;
        if range.is_empty() {
            return Ok(());
        }
        // SAFETY: the tensor has the range, and no one writes to the tensor during the call.
        let bytes = unsafe { core::slice::from_raw_parts(tensor.data().add(range.start), range.len()) };
        calls::write(self.number, offset, bytes);
        Ok(())
    }

    /// Copies the bytes from offset `offset`, which were [invalidated](Self::invalidate), to bytes `range` of a tensor.
    pub fn read(&self, offset: u64, tensor: &Tensor<'_>, range: Range<usize>) -> Outcome<()> {
        let fits = range.start <= range.end && range.end <= tensor.nbytes();
        if !fits || tensor.access() == Access::Constant || tensor.data().is_null() {
            return Err(Error::AccessFailed.into());
        }
        let offset = self.place(offset, range.len())?;
        // SAFETY: the tensor is writable and has the range, and no one else accesses the tensor during the call.
        unsafe { calls::read(self.number, offset, tensor.data().add(range.start), range.len()) };
        Ok(())
    }

    /// The offset of bytes within the buffer.
    fn place(&self, offset: u64, size: usize) -> Outcome<u32> {
        let end = offset.checked_add(size as u64).filter(|end| *end <= u64::from(self.size)).ok_or(Error::Internal)?;
        Ok((end - size as u64) as u32)
    }

    /// Makes writes of the host visible to kernels: the browser does.
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "the interface of drivers")]
    pub const fn flush(&self) -> Outcome<()> {
        Ok(())
    }

    /// Makes writes of kernels visible to the host.
    pub fn invalidate(&self) -> Outcome<()> {
        calls::fetch(self.number, 0, self.size)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        calls::release(self.number);
    }
}
