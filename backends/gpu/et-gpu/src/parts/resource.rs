//! Objects of a blob.

use std::sync::Arc;

use super::buffer::Buffer;
use super::device::Device;
use super::image::Image;
use super::memory::{Memory, Use};
use crate::blob::{Kind, Object};
use crate::device_memory::Purpose;
use crate::placement::Wanted;
use crate::problem::{Outcome, Problem};

/// An object of a blob on a device.
pub enum Resource {
    /// A storage buffer.
    Buffer(Buffer),
}

/// The one type of memory.
const TYPES: u32 = 1;

impl Resource {
    /// The object without memory.
    pub fn create(device: &Arc<Device>, object: &Object) -> Outcome<Self> {
        match object.kind {
            Kind::Buffer => Ok(Self::Buffer(Buffer::new(device, object.size))),
            _ => Err(Problem::blob("a program for a driver without images has an image")),
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
        let memory = Memory::allocate(device, object.size, TYPES, usage, purpose)?;
        resource.bind(&memory, 0)?;
        Ok((resource, memory))
    }

    /// The memory that the object needs.
    pub fn wanted(&self) -> Wanted {
        let Self::Buffer(buffer) = self;
        Wanted { size: buffer.size(), alignment: buffer.alignment(), types: TYPES }
    }

    /// Gives the object memory, once.
    pub fn bind(&mut self, memory: &Arc<Memory>, offset: u64) -> Outcome<()> {
        let Self::Buffer(buffer) = self;
        buffer.bind(memory, offset);
        Ok(())
    }

    /// The buffer, if the object is one.
    pub const fn buffer(&self) -> Option<&Buffer> {
        let Self::Buffer(buffer) = self;
        Some(buffer)
    }

    /// The image, if the object is one.
    pub const fn image(&self) -> Option<&Image> {
        None
    }
}
