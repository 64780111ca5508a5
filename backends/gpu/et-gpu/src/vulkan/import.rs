//! Buffers in memory of the host, without a copy.
#![allow(unsafe_code, reason = "hands memory of the host to the Vulkan driver")]

use std::sync::Arc;

use et_core::Tensor;

use super::buffer::Buffer;
use super::device::Device;
use super::memory::Memory;
use crate::pages::{Pages, whole_pages};

/// The smallest page of a supported operating system: bytes of the page of a tensor can be read.
const PAGE: u64 = 4096;

/// A buffer of `size` bytes over the memory of weights or of a state; `None` where the device has memory of its own, or cannot
/// import these bytes. Kernels write the buffer only if `writes`: the tensor is writable then, and has `size` bytes.
///
/// The tensor outlives the buffer: a session owns a reference to the buffer, and lives as long as the tensors of its calls.
pub fn import(device: &Arc<Device>, tensor: &Tensor<'_>, size: u64, writes: bool) -> Option<Buffer> {
    let alignment = device.description.import.filter(|alignment| *alignment <= PAGE)?;
    if !device.description.is_unified() {
        return None;
    }
    let Pages { offset, size: whole } = whole_pages(tensor, size, writes, alignment)?;
    let mut buffer = Buffer::create(device, size, true).ok()?;
    let requirements = buffer.requirements();
    if !offset.is_multiple_of(requirements.alignment) || offset + requirements.size > whole {
        return None;
    }
    let start = tensor.data().wrapping_sub(offset as usize).cast();
    // SAFETY: the range has whole pages around the tensor, which outlives the allocation as described above. Kernels access the
    // bytes of the buffer and not the other bytes of the pages. Kernels write only a tensor that is writable, and only during an
    // execution, which ends before the call ends: the memory of a writable tensor has no Rust references, no other thread
    // accesses the memory during the call, the program's memory plan gives a state bytes of its own, and the runtime shows
    // tensors to the caller only between calls.
    let memory = unsafe { Memory::import(device, start, whole, requirements.memory_type_bits) }?;
    buffer.bind(&memory, offset).ok()?;
    Some(buffer)
}
