//! Storage buffers: places in memory.

use std::sync::Arc;

use super::device::Device;
use super::memory::Memory;

/// A storage buffer. The buffer owns its memory.
pub struct Buffer {
    size: u64,
    alignment: u64,
    memory: Option<(Arc<Memory>, u64)>,
}

impl Buffer {
    /// A buffer of `size` bytes without memory.
    pub fn new(device: &Device, size: u64) -> Self {
        Self { size, alignment: device.alignment(), memory: None }
    }

    /// The bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The alignment of the first byte in memory.
    pub const fn alignment(&self) -> u64 {
        self.alignment
    }

    /// Gives the buffer memory, once.
    pub fn bind(&mut self, memory: &Arc<Memory>, offset: u64) {
        self.memory = Some((Arc::clone(memory), offset));
    }

    /// The memory, and the first byte in it.
    pub const fn place(&self) -> Option<&(Arc<Memory>, u64)> {
        self.memory.as_ref()
    }
}
