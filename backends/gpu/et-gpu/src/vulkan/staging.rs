//! Copies between tensors and the memory of a device.

use std::sync::Arc;

use et_core::{Error, Tensor};

use super::buffer::Buffer;
use super::commands::{Barrier, Commands, Recorder};
use super::device::Device;
use super::image::Image;
use super::memory::{Memory, Use};
use super::resource::Resource;
use crate::blob::Object;
use crate::device_memory::Purpose;
use crate::problem::Outcome;

/// The most bytes of a staging buffer.
const MOST: u64 = 16 << 20;

/// Copies a tensor to an object.
pub fn fill(device: &Arc<Device>, resource: &Resource, object: &Object, tensor: &Tensor<'_>) -> Outcome<()> {
    match resource {
        Resource::Buffer(buffer) => Staging::for_buffer(device, buffer)?.fill_buffer(buffer, tensor),
        Resource::Image(image) => {
            let row = u64::from(object.extent[0]) * object.kind.texel().ok_or(Error::Internal)?;
            Staging::for_image(device, image, row)?.fill_image(image, tensor, row)
        }
    }
}

/// A buffer that the host and copies fill and read.
pub struct Staging<'d> {
    device: &'d Arc<Device>,
    buffer: Buffer,
    memory: Arc<Memory>,
}

impl<'d> Staging<'d> {
    /// For copies of a buffer.
    pub fn for_buffer(device: &'d Arc<Device>, buffer: &Buffer) -> Outcome<Self> {
        Self::new(device, buffer.size().min(MOST))
    }

    /// For copies of an image with rows of `row` bytes.
    pub fn for_image(device: &'d Arc<Device>, image: &Image, row: u64) -> Outcome<Self> {
        let rows = (MOST / row).clamp(1, u64::from(image.extent()[1]));
        Self::new(device, row * rows)
    }

    fn new(device: &'d Arc<Device>, size: u64) -> Outcome<Self> {
        let mut buffer = Buffer::create(device, size, false)?;
        let requirements = buffer.requirements();
        let memory =
            Memory::allocate(device, requirements.size, requirements.memory_type_bits, Use::Shared, Purpose::Staging)?;
        buffer.bind(&memory, 0)?;
        Ok(Self { device, buffer, memory })
    }

    /// Copies a tensor to a buffer, in pieces of the staging buffer.
    pub fn fill_buffer(&self, buffer: &Buffer, tensor: &Tensor<'_>) -> Outcome<()> {
        for (offset, size) in self.pieces(buffer) {
            self.write(tensor, offset, size)?;
            self.run(|recorder| {
                recorder.barrier(Barrier::Copy, &[]);
                recorder.copy_to_buffer(&self.buffer, buffer, offset, size);
            })?;
        }
        Ok(())
    }

    /// Copies a buffer to a tensor, in pieces of the staging buffer. The first piece is the last to be copied, so that the tensor
    /// keeps its first bytes after a failure.
    pub fn read_buffer(&self, buffer: &Buffer, tensor: &Tensor<'_>) -> Outcome<()> {
        for (offset, size) in self.pieces(buffer).rev() {
            self.run(|recorder| {
                recorder.barrier(Barrier::Copy, &[]);
                recorder.copy_from_buffer(buffer, &self.buffer, offset, size);
                recorder.barrier(Barrier::End, &[]);
            })?;
            self.read(tensor, offset, size)?;
        }
        Ok(())
    }

    /// The offsets and the sizes of the pieces of a buffer.
    fn pieces(&self, buffer: &Buffer) -> impl DoubleEndedIterator<Item = (u64, u64)> + use<> {
        let (whole, most) = (buffer.size(), self.buffer.size());
        (0..whole.div_ceil(most)).map(move |piece| (piece * most, most.min(whole - piece * most)))
    }

    /// Copies a tensor to an image, in pieces of as many rows of `row` bytes as the staging buffer has.
    pub fn fill_image(&self, image: &Image, tensor: &Tensor<'_>, row: u64) -> Outcome<()> {
        let ([_, height, layers], most) = (image.extent(), (self.buffer.size() / row) as u32);
        let starts = (0..height).step_by(most as usize);
        let pieces = (0..layers).flat_map(|layer| starts.clone().map(move |start| (layer, start)));
        for (layer, start) in pieces {
            let rows = most.min(height - start);
            let before = u64::from(layer) * u64::from(height) + u64::from(start);
            self.write(tensor, before * row, u64::from(rows) * row)?;
            let new: &[&Image] = if (layer, start) == (0, 0) { &[image] } else { &[] };
            self.run(|recorder| {
                recorder.barrier(Barrier::Copy, new);
                recorder.copy_to_image(&self.buffer, image, layer, start, rows);
            })?;
        }
        Ok(())
    }

    fn run(&self, record: impl FnOnce(&Recorder<'_>)) -> Outcome<()> {
        Commands::record(self.device, |recorder| {
            record(recorder);
            Ok(())
        })?
        .run()
    }

    /// Fills the buffer with bytes of a tensor; up to 3 bytes after the last are zeros.
    fn write(&self, tensor: &Tensor<'_>, start: u64, size: u64) -> Outcome<()> {
        self.memory.write(0, tensor, bytes(tensor, start, size))?;
        self.memory.flush()
    }

    /// Copies the buffer to bytes of a tensor.
    fn read(&self, tensor: &Tensor<'_>, start: u64, size: u64) -> Outcome<()> {
        self.memory.invalidate()?;
        self.memory.read(0, tensor, bytes(tensor, start, size))
    }
}

/// The bytes of a tensor within `size` bytes; a buffer has up to 3 bytes more than the tensor.
fn bytes(tensor: &Tensor<'_>, start: u64, size: u64) -> core::ops::Range<usize> {
    start as usize..((start + size) as usize).min(tensor.nbytes())
}
