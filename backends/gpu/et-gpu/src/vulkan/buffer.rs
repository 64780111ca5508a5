//! Buffers.
#![allow(unsafe_code, reason = "calls the Vulkan driver")]

use std::sync::Arc;

use ash::vk;

use super::device::Device;
use super::failure::failed;
use super::memory::Memory;
use crate::problem::Outcome;

/// A storage buffer. The buffer owns its memory.
pub struct Buffer {
    device: Arc<Device>,
    raw: vk::Buffer,
    size: u64,
    memory: Option<Arc<Memory>>,
}

impl Buffer {
    /// A storage buffer of `size` bytes without memory, which is also a source and target of copies. `imports` says whether the
    /// memory is imported.
    pub fn create(device: &Arc<Device>, size: u64, imports: bool) -> Outcome<Self> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let mut external = vk::ExternalMemoryBufferCreateInfo::default()
            .handle_types(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT);
        let mut info = vk::BufferCreateInfo::default().size(size).usage(usage);
        if imports {
            info = info.push_next(&mut external);
        }
        // SAFETY: the size is not zero.
        let raw = unsafe { device.raw.create_buffer(&info, None) }.map_err(failed("create a buffer"))?;
        Ok(Self { device: Arc::clone(device), raw, size, memory: None })
    }

    /// The size and alignment of the memory, and the memory types.
    pub fn requirements(&self) -> vk::MemoryRequirements {
        // SAFETY: the buffer is of the device.
        unsafe { self.device.raw.get_buffer_memory_requirements(self.raw) }
    }

    /// Gives the buffer memory, once.
    pub fn bind(&mut self, memory: &Arc<Memory>, offset: u64) -> Outcome<()> {
        // SAFETY: the caller placed the buffer by its requirements.
        unsafe { self.device.raw.bind_buffer_memory(self.raw, memory.raw(), offset) }
            .map_err(failed("place a buffer"))?;
        self.memory = Some(Arc::clone(memory));
        Ok(())
    }

    /// The handle.
    pub const fn raw(&self) -> vk::Buffer {
        self.raw
    }

    /// The bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if !self.device.queue.hangs() {
            // SAFETY: the owner waits for the end of all executions that use the buffer.
            unsafe { self.device.raw.destroy_buffer(self.raw, None) };
        }
    }
}
