//! Buffers in memory of the host, without a copy.
#![allow(unsafe_code, reason = "hands memory of the host to Metal")]

use core::ptr::NonNull;
use std::sync::Arc;

use et_core::Tensor;

use super::buffer::Buffer;
use super::device::Device;
use super::memory::Memory;
use crate::pages::whole_pages;

/// The page of every system on Apple's 64-bit processors.
const PAGE: u64 = 16384;

/// The largest element, whose multiple a buffer starts at.
const ELEMENT: u64 = 16;

/// A buffer of `size` bytes over the memory of weights or of a state; `None` where the bytes begin within an element, or end
/// before the buffer, and where Metal refuses the pages, as it may for pages of several mappings. Kernels write the buffer only if `writes`: the tensor is writable then, and has `size` bytes.
///
/// The tensor outlives the buffer: a session owns a reference to the buffer, and lives as long as the tensors of its calls.
pub fn import(device: &Arc<Device>, tensor: &Tensor<'_>, size: u64, writes: bool) -> Option<Buffer> {
    let pages = whole_pages(tensor, size, writes, PAGE)?;
    if !pages.offset.is_multiple_of(ELEMENT) || pages.offset + size > pages.size {
        return None;
    }
    let start = NonNull::new(tensor.data().wrapping_sub(pages.offset as usize).cast())?;
    // SAFETY: the range has whole pages around the tensor, which outlives the allocation as described above. Kernels access the
    // bytes of the buffer and not the other bytes of the pages. Kernels write only a tensor that is writable, and only during an
    // execution, which ends before the call ends: the memory of a writable tensor has no Rust references, no other thread
    // accesses the memory during the call, the program's memory plan gives a state bytes of its own, and the runtime shows
    // tensors to the caller only between calls.
    let memory = unsafe { Memory::import(device, start, pages.size) }?;
    let mut buffer = Buffer::new(device, size);
    buffer.bind(&memory, pages.offset);
    Some(buffer)
}
