//! Weights on a device.

use std::sync::Arc;

use et_core::{Error, Tensor};

use crate::blob::{Kind, Object};
use crate::device_memory::Purpose;
use crate::problem::Outcome;
use crate::vulkan::buffer::Buffer;
use crate::vulkan::commands::{Barrier, Commands};
use crate::vulkan::device::Device;
use crate::vulkan::image::Image;
use crate::vulkan::import::import;
use crate::vulkan::memory::{Memory, Use};
use crate::vulkan::resource::Resource;

/// What determines weights on a device: the memory of the tensor, which does not change, and the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WeightsKey {
    address: usize,
    bytes: usize,
    kind: u32,
    extent: [u32; 3],
    size: u64,
}

impl WeightsKey {
    /// The key of an object that holds a tensor.
    pub fn of(object: &Object, tensor: &Tensor<'_>) -> Self {
        let Object { kind, extent, size, .. } = *object;
        Self { address: tensor.data().addr(), bytes: tensor.nbytes(), kind: kind as u32, extent, size }
    }
}

/// Weights on a device.
pub struct Weights(Resource);

/// The most bytes of a staging buffer.
const STAGING: u64 = 16 << 20;

impl Weights {
    /// Loads a tensor.
    pub fn create(device: &Arc<Device>, object: &Object, tensor: &Tensor<'_>) -> Outcome<Self> {
        load(device, object, tensor).map(Self)
    }

    /// The buffer or image.
    pub const fn resource(&self) -> &Resource {
        &self.0
    }
}

fn load(device: &Arc<Device>, object: &Object, tensor: &Tensor<'_>) -> Outcome<Resource> {
    if let Some(buffer) = (object.kind == Kind::Buffer).then(|| import(device, tensor, object.size, false)).flatten() {
        return Ok(Resource::Buffer(buffer));
    }
    let mut resource = Resource::create(device, object)?;
    let requirements = resource.requirements();
    let writes = object.kind == Kind::Buffer && device.description.is_unified();
    let usage = if writes { Use::Shared } else { Use::Device };
    let memory = Memory::allocate(device, requirements.size, requirements.memory_type_bits, usage, Purpose::Weights)?;
    resource.bind(&memory, 0)?;
    match &resource {
        Resource::Buffer(_) if writes => {
            memory.write(0, tensor, 0..tensor.nbytes())?;
            memory.flush()?;
        }
        Resource::Buffer(buffer) => Staging::new(device, object.size.min(STAGING))?.fill_buffer(buffer, tensor)?,
        Resource::Image(image) => {
            let row = image_row(object)?;
            let rows = (STAGING / row).clamp(1, u64::from(object.extent[1]));
            Staging::new(device, row * rows)?.fill_image(image, tensor, row, rows as u32)?;
        }
    }
    Ok(resource)
}

/// The bytes of a row of an image.
fn image_row(object: &Object) -> Outcome<u64> {
    Ok(u64::from(object.extent[0]) * object.kind.texel().ok_or(Error::Internal)?)
}

/// A buffer that the host fills and that copies read.
struct Staging<'d> {
    device: &'d Arc<Device>,
    buffer: Buffer,
    memory: Arc<Memory>,
}

impl<'d> Staging<'d> {
    fn new(device: &'d Arc<Device>, size: u64) -> Outcome<Self> {
        let mut buffer = Buffer::create(device, size, false)?;
        let requirements = buffer.requirements();
        let memory =
            Memory::allocate(device, requirements.size, requirements.memory_type_bits, Use::Shared, Purpose::Staging)?;
        buffer.bind(&memory, 0)?;
        Ok(Self { device, buffer, memory })
    }

    /// Copies a tensor to a buffer, in pieces of the staging buffer.
    fn fill_buffer(&self, buffer: &Buffer, tensor: &Tensor<'_>) -> Outcome<()> {
        let mut offset = 0;
        while offset < buffer.size() {
            let size = self.buffer.size().min(buffer.size() - offset);
            self.write(tensor, offset, size)?;
            let mut commands = Commands::record(self.device, |recorder| {
                recorder.barrier(Barrier::Copy, &[]);
                recorder.copy_to_buffer(&self.buffer, buffer, offset, size);
                Ok(())
            })?;
            commands.run()?;
            offset += size;
        }
        Ok(())
    }

    /// Copies a tensor to an image, in pieces of `most` rows of `row` bytes.
    fn fill_image(&self, image: &Image, tensor: &Tensor<'_>, row: u64, most: u32) -> Outcome<()> {
        let [_, height, layers] = image.extent();
        let starts = (0..height).step_by(most as usize);
        let pieces = (0..layers).flat_map(|layer| starts.clone().map(move |start| (layer, start)));
        for (layer, start) in pieces {
            let rows = most.min(height - start);
            let before = u64::from(layer) * u64::from(height) + u64::from(start);
            self.write(tensor, before * row, u64::from(rows) * row)?;
            let new: &[&Image] = if (layer, start) == (0, 0) { &[image] } else { &[] };
            let mut commands = Commands::record(self.device, |recorder| {
                recorder.barrier(Barrier::Copy, new);
                recorder.copy_to_image(&self.buffer, image, layer, start, rows);
                Ok(())
            })?;
            commands.run()?;
        }
        Ok(())
    }

    /// Fills the buffer with bytes of a tensor; up to 3 bytes after the last are zeros.
    fn write(&self, tensor: &Tensor<'_>, start: u64, size: u64) -> Outcome<()> {
        let (start, size) = (start as usize, size as usize);
        self.memory.write(0, tensor, start..(start + size).min(tensor.nbytes()))?;
        self.memory.flush()
    }
}
