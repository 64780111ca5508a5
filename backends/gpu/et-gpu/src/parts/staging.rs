//! Copies between tensors and the memory of a device, without a buffer between.

use std::sync::Arc;

use et_core::{Error, Tensor};

use super::buffer::Buffer;
use super::device::Device;
use super::resource::Resource;
use crate::blob::Object;
use crate::problem::Outcome;

/// Copies a tensor to an object.
pub fn fill(device: &Arc<Device>, resource: &Resource, _object: &Object, tensor: &Tensor<'_>) -> Outcome<()> {
    let Resource::Buffer(buffer) = resource;
    Staging::for_buffer(device, buffer)?.fill_buffer(buffer, tensor)
}

/// The memory of a buffer.
pub struct Staging;

impl Staging {
    /// For copies of a buffer.
    pub fn for_buffer(device: &Arc<Device>, _buffer: &Buffer) -> Outcome<Self> {
        device.check().map(|()| Self)
    }

    /// Copies a tensor to a buffer.
    #[expect(clippy::unused_self, reason = "the interface of drivers")]
    pub fn fill_buffer(&self, buffer: &Buffer, tensor: &Tensor<'_>) -> Outcome<()> {
        let (memory, offset) = buffer.place().ok_or(Error::Internal)?;
        memory.write(*offset, tensor, 0..tensor.nbytes())?;
        memory.flush()
    }

    /// Copies a buffer to a tensor, which keeps its bytes after a failure.
    #[expect(clippy::unused_self, reason = "the interface of drivers")]
    pub fn read_buffer(&self, buffer: &Buffer, tensor: &Tensor<'_>) -> Outcome<()> {
        let (memory, offset) = buffer.place().ok_or(Error::Internal)?;
        memory.invalidate()?;
        memory.read(*offset, tensor, 0..tensor.nbytes())
    }
}
