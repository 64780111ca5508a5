//! Buffers and images alike.

use std::sync::Arc;

use ash::vk;

use super::buffer::Buffer;
use super::device::Device;
use super::image::Image;
use super::memory::{Memory, Use};
use crate::blob::{Kind, Object};
use crate::device_memory::Purpose;
use crate::placement::Wanted;
use crate::problem::Outcome;

/// An object of a blob on a device.
pub enum Resource {
    /// A storage buffer.
    Buffer(Buffer),
    /// An image.
    Image(Image),
}

impl Resource {
    /// The object without memory.
    pub fn create(device: &Arc<Device>, object: &Object) -> Outcome<Self> {
        match object.kind {
            Kind::Buffer => Buffer::create(device, object.size, false).map(Self::Buffer),
            kind => Image::create(device, kind, object.extent).map(Self::Image),
        }
    }

    /// The object with memory of its own.
    pub fn with_memory(
        device: &Arc<Device>,
        object: &Object,
        usage: Use,
        purpose: Purpose,
    ) -> Outcome<(Self, Arc<Memory>)> {
        let mut resource = Self::create(device, object)?;
        let Wanted { size, types, .. } = resource.wanted();
        let memory = Memory::allocate(device, size, types, usage, purpose)?;
        resource.bind(&memory, 0)?;
        Ok((resource, memory))
    }

    /// The memory that the object needs.
    pub fn wanted(&self) -> Wanted {
        let requirements = match self {
            Self::Buffer(buffer) => buffer.requirements(),
            Self::Image(image) => image.requirements(),
        };
        let vk::MemoryRequirements { size, alignment, memory_type_bits: types } = requirements;
        Wanted { size, alignment, types }
    }

    /// Gives the object memory, once.
    pub fn bind(&mut self, memory: &Arc<Memory>, offset: u64) -> Outcome<()> {
        match self {
            Self::Buffer(buffer) => buffer.bind(memory, offset),
            Self::Image(image) => image.bind(memory, offset),
        }
    }

    /// The buffer, if the object is one.
    pub const fn buffer(&self) -> Option<&Buffer> {
        match self {
            Self::Buffer(buffer) => Some(buffer),
            Self::Image(_) => None,
        }
    }

    /// The image, if the object is one.
    pub const fn image(&self) -> Option<&Image> {
        match self {
            Self::Image(image) => Some(image),
            Self::Buffer(_) => None,
        }
    }
}
