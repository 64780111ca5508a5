//! Command buffers: recorded once, executed often.
#![allow(unsafe_code, reason = "calls the Vulkan driver")]

use core::time::Duration;
use std::sync::Arc;

use ash::vk;

use super::buffer::Buffer;
use super::device::Device;
use super::failure::failed;
use super::image::{Image, whole};
use super::pipeline::Pipeline;
use super::timestamps::Timestamps;
use crate::problem::Outcome;

/// A recorded command buffer in a pool of its own. The owner keeps the recorded objects until all executions have ended.
pub struct Commands {
    device: Arc<Device>,
    pool: vk::CommandPool,
    raw: vk::CommandBuffer,
}

/// Records commands.
pub struct Recorder<'r> {
    device: &'r Device,
    raw: vk::CommandBuffer,
}

/// A memory barrier: which accesses come before which.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Barrier {
    /// Writes of the host, of copies and of earlier executions, before kernels.
    Start,
    /// Writes of kernels before kernels.
    Kernels,
    /// Writes of kernels and of copies before reads of the host.
    End,
    /// Writes of the host, of kernels and of earlier copies, before copies.
    Copy,
}

type Stages = (vk::PipelineStageFlags, vk::AccessFlags);

impl Barrier {
    /// The stages and accesses before and after.
    fn scopes(self) -> (Stages, Stages) {
        use vk::{AccessFlags as Access, PipelineStageFlags as Stage};
        let kernels = (Stage::COMPUTE_SHADER, Access::SHADER_READ | Access::SHADER_WRITE);
        let device = (Stage::COMPUTE_SHADER | Stage::TRANSFER, Access::SHADER_WRITE | Access::TRANSFER_WRITE);
        let all = (device.0 | Stage::HOST, device.1 | Access::HOST_WRITE);
        match self {
            Self::Start => (all, kernels),
            Self::Kernels => ((Stage::COMPUTE_SHADER, Access::SHADER_WRITE), kernels),
            Self::End => (device, (Stage::HOST, Access::HOST_READ)),
            Self::Copy => (all, (Stage::TRANSFER, Access::TRANSFER_READ | Access::TRANSFER_WRITE)),
        }
    }
}

impl Commands {
    /// Records a command buffer.
    pub fn record(device: &Arc<Device>, record: impl FnOnce(&Recorder<'_>) -> Outcome<()>) -> Outcome<Self> {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(device.family);
        // SAFETY: the family is the family of the device's queue.
        let pool = unsafe { device.raw.create_command_pool(&info, None) }.map_err(failed("record commands"))?;
        let mut commands = Self { device: Arc::clone(device), pool, raw: vk::CommandBuffer::null() };
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool is new.
        let buffers = unsafe { device.raw.allocate_command_buffers(&info) }.map_err(failed("record commands"))?;
        commands.raw = buffers.first().copied().ok_or(et_core::Error::Internal)?;
        // SAFETY: the command buffer is new.
        unsafe { device.raw.begin_command_buffer(commands.raw, &vk::CommandBufferBeginInfo::default()) }
            .map_err(failed("record commands"))?;
        record(&Recorder { device, raw: commands.raw })?;
        // SAFETY: the command buffer is being recorded.
        unsafe { device.raw.end_command_buffer(commands.raw) }.map_err(failed("record commands"))?;
        Ok(commands)
    }

    /// Executes the commands and waits for their end. The receiver is exclusive, because a command buffer executes once at a time.
    pub fn run(&mut self) -> Outcome<()> {
        self.device.queue.run(&self.device.raw, self.raw)
    }

    /// The time of the last execution, which the driver does not tell of itself.
    #[expect(clippy::unused_self, reason = "the interface of drivers")]
    pub const fn duration(&self) -> Option<Duration> {
        None
    }
}

impl Recorder<'_> {
    /// Records a barrier for all memory that gives the contents of `images` up: the images are in layout GENERAL then.
    pub fn barrier(&self, barrier: Barrier, images: &[&Image]) {
        let ((before, writes), (after, accesses)) = barrier.scopes();
        let memory = vk::MemoryBarrier::default().src_access_mask(writes).dst_access_mask(accesses);
        let transition = |image: &&Image| {
            vk::ImageMemoryBarrier::default()
                .src_access_mask(writes)
                .dst_access_mask(accesses)
                .old_layout(vk::ImageLayout::UNDEFINED)
                .new_layout(vk::ImageLayout::GENERAL)
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .image(image.raw())
                .subresource_range(whole(image.extent()[2]))
        };
        let images: Vec<_> = images.iter().map(transition).collect();
        let flags = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is being recorded, and the owner of the commands keeps the images.
        unsafe { self.device.raw.cmd_pipeline_barrier(self.raw, before, after, flags, &[memory], &[], &images) };
    }

    /// Records an execution of a kernel.
    pub fn dispatch(&self, pipeline: &Pipeline, set: vk::DescriptorSet, workgroups: [u32; 3]) {
        let ([x, y, z], device, point) = (workgroups, &self.device.raw, vk::PipelineBindPoint::COMPUTE);
        // SAFETY: the command buffer is being recorded, the set has the layout of the pipeline, the number of workgroups is
        // within the limits, and the owner of the commands keeps all objects.
        unsafe {
            device.cmd_bind_pipeline(self.raw, point, pipeline.raw());
            device.cmd_bind_descriptor_sets(self.raw, point, pipeline.layout(), 0, &[set], &[]);
            device.cmd_dispatch(self.raw, x, y, z);
        }
    }

    /// Records that timestamps are taken anew, and the first.
    pub fn start(&self, timestamps: &Timestamps) {
        // SAFETY: the command buffer is being recorded, and the owner of the commands keeps the timestamps.
        unsafe { self.device.raw.cmd_reset_query_pool(self.raw, timestamps.raw(), 0, timestamps.count()) };
        self.stamp(timestamps, 0);
    }

    /// Records that timestamp `index` is taken at the end of all kernels before.
    pub fn stamp(&self, timestamps: &Timestamps, index: u32) {
        let stage = vk::PipelineStageFlags::COMPUTE_SHADER;
        // SAFETY: as before; the caller's index is below the number of timestamps.
        unsafe { self.device.raw.cmd_write_timestamp(self.raw, stage, timestamps.raw(), index) };
    }

    /// Records a copy of the first `size` bytes of a staging buffer to offset `offset` of a buffer.
    pub fn copy_to_buffer(&self, from: &Buffer, to: &Buffer, offset: u64, size: u64) {
        let region = vk::BufferCopy { src_offset: 0, dst_offset: offset, size };
        // SAFETY: the command buffer is being recorded, both buffers have the bytes, and the owner of the commands keeps the
        // buffers.
        unsafe { self.device.raw.cmd_copy_buffer(self.raw, from.raw(), to.raw(), &[region]) };
    }

    /// Records a copy of `size` bytes from offset `offset` of a buffer to the start of a staging buffer.
    pub fn copy_from_buffer(&self, from: &Buffer, to: &Buffer, offset: u64, size: u64) {
        let region = vk::BufferCopy { src_offset: offset, dst_offset: 0, size };
        // SAFETY: as before.
        unsafe { self.device.raw.cmd_copy_buffer(self.raw, from.raw(), to.raw(), &[region]) };
    }

    /// Records a copy of `rows` rows from the start of a staging buffer to row `row` of a layer of an image.
    pub fn copy_to_image(&self, from: &Buffer, to: &Image, layer: u32, row: u32, rows: u32) {
        let region = vk::BufferImageCopy::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                mip_level: 0,
                base_array_layer: layer,
                layer_count: 1,
            })
            .image_offset(vk::Offset3D { x: 0, y: row.cast_signed(), z: 0 })
            .image_extent(vk::Extent3D { width: to.extent()[0], height: rows, depth: 1 });
        let layout = vk::ImageLayout::GENERAL;
        // SAFETY: the command buffer is being recorded, the buffer has the rows, the image is in the layout, and the owner of
        // the commands keeps both.
        unsafe { self.device.raw.cmd_copy_buffer_to_image(self.raw, from.raw(), to.raw(), layout, &[region]) };
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        if !self.device.queue.hangs() {
            // SAFETY: `run` waits for the end of every execution. This frees the command buffer.
            unsafe { self.device.raw.destroy_command_pool(self.pool, None) };
        }
    }
}
