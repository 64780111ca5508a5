//! Memory of the CPU and the GPU, and copies between it and the tensors of a call.
#![allow(unsafe_code, reason = "hands memory of the host to Metal")]

use core::ffi::c_void;
use core::ops::Range;
use core::ptr::NonNull;
use std::sync::Arc;

use et_core::Tensor;
use objc2::rc::Retained;
use objc2::runtime::ProtocolObject;
use objc2_metal::{MTLBuffer, MTLDevice, MTLResourceOptions};

use super::device::Device;
use super::failure::no_memory;
pub use super::usage::Use;
use crate::device_memory::{Counted, Purpose};
use crate::mapping::Mapping;
use crate::problem::Outcome;

/// A buffer of Metal, in which the objects of a blob have places.
pub struct Memory {
    raw: Retained<ProtocolObject<dyn MTLBuffer>>,
    mapping: Mapping,
    _counted: Counted,
}

// SAFETY: a buffer may be bound and freed by any thread.
unsafe impl Send for Memory {}
// SAFETY: as before.
unsafe impl Sync for Memory {}

impl Memory {
    /// Allocates `size` bytes; there is one type of memory.
    pub fn allocate(device: &Arc<Device>, size: u64, _types: u32, _usage: Use, purpose: Purpose) -> Outcome<Arc<Self>> {
        device.check()?;
        let raw = device.raw.newBufferWithLength_options(size as usize, MTLResourceOptions::StorageModeShared);
        let raw = raw.ok_or_else(|| no_memory(&format!("hold {size} bytes of tensors")))?;
        Ok(Self::of(raw, size, purpose))
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
        Some(Self::of(raw, size, Purpose::Imported))
    }

    fn of(raw: Retained<ProtocolObject<dyn MTLBuffer>>, size: u64, purpose: Purpose) -> Arc<Self> {
        // SAFETY: the buffer has the bytes as long as the memory, and an execution ends before the host copies.
        let mapping = unsafe { Mapping::new(raw.contents().cast(), size) };
        Arc::new(Self { raw, mapping, _counted: Counted::new(purpose, size) })
    }

    /// The buffer.
    pub const fn raw(&self) -> &Retained<ProtocolObject<dyn MTLBuffer>> {
        &self.raw
    }

    /// As [`Mapping::write`].
    pub fn write(&self, offset: u64, tensor: &Tensor<'_>, range: Range<usize>) -> Outcome<()> {
        self.mapping.write(offset, tensor, range)
    }

    /// As [`Mapping::read`].
    pub fn read(&self, offset: u64, tensor: &Tensor<'_>, range: Range<usize>) -> Outcome<()> {
        self.mapping.read(offset, tensor, range)
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
