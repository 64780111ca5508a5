//! Memory of the CPU and the GPU, and copies between it and the tensors of a call.
#![allow(unsafe_code, reason = "copies through pointers, and hands memory of the host to Metal")]

use core::ffi::c_void;
use core::ops::Range;
use core::ptr::NonNull;
use std::sync::Arc;

use et_core::{Access, Error, Tensor};
use objc2::rc::Retained;
use objc2::runtime::ProtocolObject;
use objc2_metal::{MTLBuffer, MTLDevice, MTLResourceOptions};

use super::device::Device;
use super::failure::no_memory;
use crate::device_memory::{Counted, Purpose};
use crate::problem::Outcome;

/// A buffer of Metal, in which the objects of a blob have places.
pub struct Memory {
    raw: Retained<ProtocolObject<dyn MTLBuffer>>,
    size: u64,
    _counted: Counted,
}

// SAFETY: a buffer may be bound and freed by any thread, and copies through its address are synchronized by the owner.
unsafe impl Send for Memory {}
// SAFETY: as before.
unsafe impl Sync for Memory {}

/// Who accesses memory, which is the same memory for both.
#[derive(Clone, Copy)]
pub enum Use {
    /// Kernels.
    Device,
    /// The host and kernels.
    Shared,
}

impl Memory {
    /// Allocates `size` bytes; there is one type of memory.
    pub fn allocate(device: &Arc<Device>, size: u64, _types: u32, _usage: Use, purpose: Purpose) -> Outcome<Arc<Self>> {
        device.check()?;
        let raw = device.raw.newBufferWithLength_options(size as usize, MTLResourceOptions::StorageModeShared);
        let raw = raw.ok_or_else(|| no_memory(&format!("hold {size} bytes of tensors")))?;
        Ok(Arc::new(Self { raw, size, _counted: Counted::new(purpose, size) }))
    }

    /// Memory of the host without a copy: whole pages.
    ///
    /// # Safety
    /// The memory exists as long as the result. While kernels access bytes of the memory, the host writes none of these,
    /// and while kernels write bytes, the host reads none of these.
    pub unsafe fn import(device: &Arc<Device>, address: NonNull<c_void>, size: u64) -> Option<Arc<Self>> {
        let options = MTLResourceOptions::StorageModeShared;
        // SAFETY: the caller guarantees the memory, which Metal does not free.
        let raw = unsafe {
            device.raw.newBufferWithBytesNoCopy_length_options_deallocator(address, size as usize, options, None)
        }?;
        Some(Arc::new(Self { raw, size, _counted: Counted::new(Purpose::Imported, size) }))
    }

    /// The buffer.
    pub const fn raw(&self) -> &Retained<ProtocolObject<dyn MTLBuffer>> {
        &self.raw
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
        // SAFETY: the buffer has the offset.
        Ok(unsafe { self.raw.contents().cast::<u8>().as_ptr().add(offset as usize) })
    }

    /// Makes writes of the host visible to kernels: they are, when an execution begins.
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "the interface of drivers")]
    pub const fn flush(&self) -> Outcome<()> {
        Ok(())
    }

    /// Makes writes of kernels visible to the host: they are, when an execution has ended.
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "the interface of drivers")]
    pub const fn invalidate(&self) -> Outcome<()> {
        Ok(())
    }
}
